-- Tens of thousands of swaps may be delivered and not final. What is looked at with every head does not depend on how
-- many: transactions that no block has, the first that become final and the last that a reorg returns, and swaps whose
-- claim can be signed.
create index tx_attempts_unmined on tx_attempts (chain_id, sender, nonce)
  where final_at is null and consumed_block is null;
create index swaps_to_claim on swaps (origin_chain, destination_chain)
  where state in ('settled', 'claiming') and origin_final and delivery_final;
