-- One chain as the process that follows it saw it last. Unlogged: after a crash the follower writes it anew. Versions
-- are of a sequence, so that they rise over that as well.
create sequence chain_view_versions;
create unlogged table chain_views (
  chain_id   bigint      primary key,
  view       jsonb       not null,
  version    bigint      not null,
  updated_at timestamptz not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);

-- Whether somebody waits for a chain is asked at every look at it, whatever number of swaps waits for finality.
create index swaps_in_flight on swaps (origin_chain, destination_chain)
  where state in ('accepted', 'locking', 'locked', 'delivering');
