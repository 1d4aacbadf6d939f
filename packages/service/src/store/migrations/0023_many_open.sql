-- Tens of thousands of swaps may be delivered and not final. What is looked at with every head does not depend on how
-- many: transactions that no block has, the first that become final and the last that a reorg returns, and swaps that
-- are final on a side.
create index tx_attempts_unmined on tx_attempts (chain_id, sender, nonce)
  where final_at is null and consumed_block is null;
create index swaps_to_claim on swaps (origin_chain, destination_chain)
  where state in ('settled', 'claiming') and origin_final and delivery_final;
create index swaps_paid_for_good on swaps (destination_chain)
  where state in ('settled', 'claiming') and delivery_final;
create index swaps_taken_for_good on swaps (origin_chain)
  where origin_final and state not in ('closed', 'refunded', 'failed');
