-- Terms in the database that its wallet did not sign: nothing is locked, paid or given back by them.
alter table swaps add is_unsigned boolean not null default false;
create index swaps_unsigned on swaps (id) where is_unsigned;
