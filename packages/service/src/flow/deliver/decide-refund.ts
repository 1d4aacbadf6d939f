import type { Pool } from 'pg'
import type { OriginChain } from '../../chains/chain.ts'
import { failPoint } from '../../fail-point.ts'
import { isDeliverable } from '../../model/lifecycle.ts'
import type { RefundReason } from '../../model/outcome.ts'
import type { ProofOf } from '../../model/proof.ts'
import type { Swap } from '../../model/swap.ts'
import { type Lease, whileHeld } from '../../store/lanes.ts'
import { advanceSwap } from '../../store/swaps.ts'

export type DecideRefundDeps = {
  pool: Pool
  originOf(chainId: number): OriginChain
  onRefundDecided(swap: Swap, reason: RefundReason): void
}

/** Decides a refund, after which no delivery may be signed. Requires a final input. */
export async function decideRefund(
  deps: DecideRefundDeps,
  lease: Lease,
  swap: Swap,
  { refundReason, proof }: { refundReason: RefundReason; proof: ProofOf<'deliveryImpossible'> },
): Promise<void> {
  if (swap.state === 'delivering' && !swap.originFinal) return failIfNeverLocked(deps, swap)
  if (!isDeliverable(swap.state) || !swap.originFinal) return
  failPoint('before deliveryImpossible')
  const moved = await whileHeld(deps.pool, lease, (db) =>
    advanceSwap(db, { swap, event: 'deliveryImpossible', refundReason, proof }),
  )
  failPoint('after deliveryImpossible')
  if (moved) deps.onRefundDecided(moved, refundReason)
}

/** Fails a swap whose lock a reorg undid for good: nothing was taken, nothing was paid, and no delivery can follow. */
async function failIfNeverLocked({ pool, originOf }: DecideRefundDeps, swap: Swap): Promise<void> {
  const origin = originOf(swap.op.originChain)
  const { hard } = await origin.readHeads()
  const state = (await origin.readLocks([swap.op], hard)).get(swap.op.hash)
  if (state !== 'none' || !origin.isLockOver(swap, hard)) return
  const proof = { kind: 'notLockedPastDeadline', chainId: swap.op.originChain, block: hard } as const
  await advanceSwap(pool, { swap, event: 'lockDead', failureCode: 'OPERATION_EXPIRED', proof })
}
