-- How long the last swaps of a route took from submission to settled, the newest first: a statistic for quotes. One row
-- per route and depth at which their inputs were paid for.
create table swap_times (
  origin_chain      bigint  not null,
  destination_chain bigint  not null,
  depth             integer not null,
  durations_ms      integer[] not null,
  primary key (origin_chain, destination_chain, depth)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);
