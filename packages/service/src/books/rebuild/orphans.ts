import type { Pool } from 'pg'
import type { Block, Chain, Delivered } from '../../chains/chain.ts'
import type { RecoveryChain } from '../../chains/recovery.ts'
import { adoptOrphan } from '../../store/rebuild.ts'
import { advanceSwap } from '../../store/swap-moves.ts'
import { findOrphans } from '../../store/swaps.ts'
import { termsOfOp } from '../../swap/op-terms.ts'
import type { Op, Swap } from '../../swap/swap.ts'
import { completeTerms, type Rules } from './terms.ts'

type OrphanDeps = {
  pool: Pool
  rules: Rules
  everywhere: readonly { chain: Pick<Chain, 'chainId' | 'readHeads'>; recovery: RecoveryChain }[]
  onResolved(swap: Swap, how: 'delivered' | 'returned'): void
}

// Clocks of chains differ by less: no delivery precedes the op by more than this.
const SKEW_SECONDS = 3_600

/**
 * Resolves the orphans of a chain. A delivered one gets its terms back; one that every chain rules out by its deadline
 * is refunded.
 */
export async function resolveOrphans(deps: OrphanDeps, chainId: number): Promise<void> {
  for (const swap of await findOrphans(deps.pool, chainId)) await resolve(deps, swap)
}

type Passed = { chainId: number; block: Block; isOver: boolean }

async function resolve(deps: OrphanDeps, swap: Swap): Promise<void> {
  const { op } = swap
  const passed: Passed[] = []
  for (const { chain, recovery } of deps.everywhere) {
    const { hard } = await chain.readHeads()
    const made = await recovery.findDelivery(op.deliveryHash, op.opDeadline - SKEW_SECONDS, hard)
    if (made) return adopt(deps, swap, recovery, made)
    // Deliveries without a deadline live for a minute, and the rebuild waited for that.
    const isOver = recovery.expiryOf?.(hard) !== undefined || hard.seconds > op.refundDeadline
    passed.push({ chainId: chain.chainId, block: hard, isOver })
  }
  if (!passed.every(({ isOver }) => isOver)) return
  const moved = await advanceSwap(deps.pool, {
    swap,
    event: 'deliveryImpossible',
    refundReason: 'DELIVERY_EXPIRED',
    proof: { kind: 'deliveredNowherePastDeadline', blocks: passed },
  })
  if (moved) deps.onResolved(moved, 'returned')
}

async function adopt(
  deps: OrphanDeps,
  swap: Swap,
  recovery: RecoveryChain,
  { txHash, block, amount }: Delivered,
): Promise<void> {
  const { op } = swap
  const { chainId } = recovery
  const delivery = await recovery.findDeliveryTerms(txHash, op.deliveryHash)
  const found = delivery && { ...toFound(deps.rules, op), delivery: { ...delivery, chainId, amount } }
  const content = found && completeTerms(deps.rules, found)
  if (!content) return
  const terms = termsOfOp(deps.rules.custodyOf, content).signed
  await adoptOrphan(deps.pool, { ...content, id: op.id, terms, destinationBlock: block })
  deps.onResolved(swap, 'delivered')
}

/** The terms that the lock revealed when it was found. */
function toFound({ custodyOf }: Rules, op: Op) {
  const { hash, originChain, wallet, inputToken, inputAmount, locker, deliveryHash } = op
  const { position, round, opDeadline, refundDeadline } = op
  const isSigned = 'escrow' in custodyOf(originChain)
  const lock = {
    wallet,
    inputToken,
    inputAmount,
    locker,
    deliveryHash,
    seconds: opDeadline,
    refundDeadline,
    signed: isSigned ? { position, round, opDeadline, refundDeadline } : undefined,
  }
  return { hash, originChain, lock }
}
