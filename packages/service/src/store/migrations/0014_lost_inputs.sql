-- Inputs that a reorg took back after they were paid for, for good. Each stays booked in `exposure` until the operator
-- has written it off: without that, losses could go on beyond the cap of their chain.
create table lost_inputs (
  swap_id        text primary key references swaps,
  chain_id       bigint not null,
  cents          bigint not null,
  at             timestamptz not null default clock_timestamp(),
  written_off_at timestamptz,
  note           text,
  check ((written_off_at is null) = (note is null))
);
create index lost_inputs_open on lost_inputs (chain_id) where written_off_at is null;
