-- The quote charged for an account that the recipient has to be given first.
alter table ops add column creates_account boolean not null default false;

-- A signed transaction stands where a signature does: the height after which its chain takes it no more.
alter table swaps add column last_valid bigint;

-- The height after which the chain takes an attempt no more, where it has such a rule.
alter table tx_attempts add column last_valid bigint;
