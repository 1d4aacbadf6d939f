-- After a restore the log of attempts may lack what was signed since the backup. Such a swap is never locked or
-- delivered by us again, and only what a chain rules out by its own rule counts as not happened.
alter table swaps add column log_lost boolean not null default false;

-- Found on a chain, with only its input known: nobody can deliver it, and it goes back when nothing can have been.
alter table ops add column is_orphan boolean not null default false;

-- Up to which slot the transactions of a chain without nonces were compared with the log.
create table rebuild_points (
  chain_id bigint primary key,
  block    bigint not null
);

create table rebuilds (
  id        bigint generated always as identity primary key,
  at        timestamptz not null default clock_timestamp(),
  epoch     integer not null,
  recovered integer not null, -- swaps that were on a chain and not here
  moved     integer not null, -- swaps that were here, and further on a chain
  uncertain integer not null  -- swaps that only a deadline can decide now
);
