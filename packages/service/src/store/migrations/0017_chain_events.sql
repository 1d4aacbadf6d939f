-- Events of our contracts (on Solana: of our markers), and how far each chain was scanned for them. A restart goes on
-- from the cursor. Of a reorg only the events that it undid are removed.
create table chain_cursors (
  chain_id   bigint primary key,
  scanned_to bigint not null
);
create table chain_events (
  chain_id    bigint not null,
  kind        text   not null check (kind in ('locked', 'claimed', 'refunded', 'delivered')),
  id          text   not null, -- the op's hash; of a delivery, the delivery's
  block       bigint not null,
  block_hash  text   not null,
  tx_hash     text   not null,
  seen_at     bigint not null, -- the chain's time of the head at which it was first seen: not before its block
  amount      numeric(78),
  credited_to text[],
  final       boolean not null default false, -- hard-final, and all that follows from it is done
  stored_at   timestamptz not null default clock_timestamp(),
  primary key (chain_id, kind, id)
);
create index chain_events_open on chain_events (chain_id, block) where not final;
create index chain_events_done on chain_events (stored_at) where final;

-- Where the lock and the delivery are now; null while none is known. The few without are looked for at each head.
alter table swaps add column delivered_block bigint,
                  add column origin_safe boolean not null default false;
create index swaps_unlocked on swaps (origin_chain)
  where locked_block is null and not origin_final and state in ('accepted', 'locking', 'delivering', 'settled', 'claiming');
create index swaps_undelivered on swaps (destination_chain)
  where delivered_block is null and not delivery_final and state in ('delivering', 'settled', 'claiming');
create index ops_by_delivery on ops (delivery_hash);
