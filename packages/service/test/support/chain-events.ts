import type { Pool } from 'pg'
import type { ChainEvent } from '../../src/chains/chain.ts'
import { storePage } from '../../src/store/chain-events.ts'
import type { Swap } from '../../src/swap/swap.ts'

/** Stores one event of this kind for each swap, in block 20 by default. */
export async function storeTestEvents(
  pool: Pool,
  chainId: number,
  kind: ChainEvent['kind'],
  swaps: readonly Swap[],
  at: { block?: bigint; seconds?: number; txHash?: string } = {},
): Promise<void> {
  const { block = 20n, seconds = -1, txHash = `0x${kind}` } = at
  const events = swaps.map(({ op }) => ({
    kind,
    id: kind === 'delivered' ? op.deliveryHash : op.hash,
    txHash,
    block,
    blockHash: `0x${block}`,
    ...(kind === 'delivered' && { amount: op.quotedOutput }),
  }))
  await storePage(pool, { chainId, events, to: block, seconds, gone: [] }, async () => {})
}
