-- Whether a swap has an attestation is asked for each one that waits to be claimed or refunded. Without a pending list,
-- which every such question would read.
create index attestations_by_swap on attestations using gin (swap_ids) with (fastupdate = off);

-- The block at settle depth by which a chain with nonces had consumed this attempt's; null again when a reorg gave it
-- back. What did nothing then is tried again at once. Only `final_at` says that it never will do anything.
alter table tx_attempts add column consumed_block bigint;

-- Lanes look for these at each block or second, among open swaps of which most wait for finality. All are few.
create index swaps_locked on swaps (destination_chain) where state = 'locked';
create index swaps_refunding on swaps (origin_chain) where state in ('refundDecided', 'refunding', 'refundBlocked');
create index ops_orphans on ops (origin_chain) where is_orphan;
