-- Whether a swap has an attestation is asked for each one that waits to be claimed or refunded. Without a pending list,
-- which every such question would read.
create index attestations_by_swap on attestations using gin (swap_ids) with (fastupdate = off);
