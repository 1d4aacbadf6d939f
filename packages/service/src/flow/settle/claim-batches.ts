import { chunksOf } from '../../model/group.ts'
import type { Swap } from '../../model/swap.ts'

/**
 * Batches swaps by refund deadline, so that urgent claims can be sent alone. Within a batch tokens are grouped, since
 * the escrow pays the vault once per run of a token.
 */
export function claimBatches(swaps: readonly Swap[], maxBatch: number): Swap[][] {
  const byDeadline = (a: Swap, b: Swap) => a.op.refundDeadline - b.op.refundDeadline
  const byToken = (a: Swap, b: Swap) =>
    a.op.inputToken === b.op.inputToken ? byDeadline(a, b) : a.op.inputToken < b.op.inputToken ? -1 : 1
  return chunksOf([...swaps].sort(byDeadline), maxBatch).map((batch) => [...batch].sort(byToken))
}
