-- The most wei that a unit of gas may cost when an op is locked and when it is delivered; 0 for no bound.
alter table ops add column lock_fee_bound numeric(78) not null default 0,
                add column delivery_fee_bound numeric(78) not null default 0;
