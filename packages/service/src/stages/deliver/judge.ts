import type { DestinationChain, Heads, OriginChain } from '../../chains/chain.ts'
import type { Moves } from '../../engine/advance.ts'
import type { Sender } from '../../engine/sender.ts'
import type { Screening } from '../../screen/denials.ts'
import type { Party } from '../../screen/screening.ts'
import type { Lease } from '../../store/lanes.ts'
import { isDeliverable, isPaid, type ProofOf, type RefundReason } from '../../swap/lifecycle.ts'
import { partiesOf } from '../../swap/parties.ts'
import type { Op, Swap } from '../../swap/swap.ts'
import { isPurchase } from '../../swap/venue.ts'

type Verdict = { kind: 'deliver' } | { kind: 'wait' } | { kind: 'impossible'; reason: RefundReason }

export type JudgeDeps = {
  destination: DestinationChain
  sender: Pick<Sender, 'address' | 'affords' | 'termsAt'>
  isLive(): boolean
  /** For how long the destination has been unreachable. */
  downSeconds(): number
  isPriceKept(swap: Swap): boolean | undefined
  /** Whether its parties are served. Absent if everybody is. */
  screening?: Pick<Screening, 'ofSwap'> | undefined
  /** Whether those are served whose money the lock took in the wallet's stead. Absent as `screening` is. */
  judgeTaken?(swap: Swap): Promise<{ kind: 'allow' | 'deny' | 'wait' }>
  /** Whether the input can still be claimed in time; undefined while the time of its chain is unknown. */
  isClaimable(op: Swap['op']): boolean | undefined
  /** Whether a chain's finality is so late that no new delivery is made from or to it. */
  isLate(chainId: number): boolean
  cutOffSeconds: number
  patienceSeconds: number
}

/**
 * Decides whether a locked swap is delivered now. Delivery is due: only the reasons below prevent it. Without
 * sources that agree it waits, until it is refunded. A swap reported as settled is delivered at any cost.
 */
export async function judgeDelivery(deps: JudgeDeps, heads: Heads | undefined, swap: Swap): Promise<Verdict> {
  if (!heads || !deps.isLive()) return awaitDestination(deps)
  if (heads.head.seconds > swap.op.fillDeadline - deps.cutOffSeconds) return impossible('DELIVERY_EXPIRED')
  const isClaimable = deps.isClaimable(swap.op)
  if (isClaimable === undefined) return { kind: 'wait' }
  if (!isClaimable) return impossible('DELIVERY_EXPIRED')
  if (isPaid(swap.state)) return { kind: 'deliver' }
  if (deps.isLate(swap.op.originChain) || deps.isLate(swap.op.destinationChain)) return { kind: 'wait' }
  const [verdict, taken] = await Promise.all([
    deps.screening?.ofSwap(screenedOf(swap), { point: 'delivery', swapId: swap.id }),
    deps.judgeTaken?.(swap),
  ])
  if (verdict === 'deny' || taken?.kind === 'deny') return impossible('ADDRESS_BLOCKED')
  // Asked again until the delivery is no longer due.
  if (verdict === 'unknown' || taken?.kind === 'wait') return { kind: 'wait' }
  const isKept = deps.isPriceKept(swap)
  if (isKept === undefined) return { kind: 'wait' }
  if (!isKept) return impossible('PRICE_MOVED')
  const { address: sender, termsAt } = deps.sender
  const simulation = await deps.destination.simulateDelivery(swap.op, { sender, terms: await termsAt(heads) })
  if (simulation.kind === 'recipientRefuses') return impossible('RECIPIENT_INVALID')
  if (simulation.kind === 'noLiquidity') return impossible('NO_LIQUIDITY')
  if (simulation.kind === 'priceMoved') return impossible('PRICE_MOVED')
  const isReady = simulation.kind === 'ok' && (await deps.sender.affords(heads, swap.op.deliveryFeeBound))
  return { kind: isReady ? 'deliver' : 'wait' }
}

/** With those who sent its deposit. */
function screenedOf({ op, depositSenders = [] }: Swap): Party[] {
  const senders = depositSenders.map((address) => ({
    address,
    chainId: op.originChain,
    role: 'depositor' as const,
  }))
  return [...partiesOf(op), ...senders]
}

function awaitDestination(deps: JudgeDeps): Verdict {
  return deps.downSeconds() < deps.patienceSeconds ? { kind: 'wait' } : impossible('DESTINATION_UNAVAILABLE')
}

function impossible(reason: RefundReason): Verdict {
  return { kind: 'impossible', reason }
}

type Options = {
  /** The deliverable amount of a token, as last seen; undefined if unknown. */
  holdingOf(token: string): bigint | undefined
  /** The token whose delivery runs code of its recipient, if there is one. */
  strangeToken?: string | undefined
  now?: () => number
}

/** Longer than most swaps take from lock to delivery. */
const MEMORY_MS = 30_000
/** Deliveries that are due at the same time share the holdings. */
const AMPLE = 10n

/**
 * Simulates a delivery once instead of before both the lock and the delivery, if these are seconds apart. Three are
 * simulated again: a purchase, whose price moves; a delivery that takes much of the holdings; one whose recipient may
 * tell a simulation by its gas price.
 */
export function simulateOnce<T extends Pick<DestinationChain, 'simulateDelivery'>>(
  chain: T,
  { holdingOf, strangeToken, now = () => performance.now() }: Options,
): T {
  const expiries = new Map<string, number>()

  function remember({ hash }: Op): void {
    for (const [old, expiry] of expiries) {
      if (expiry > now()) break
      expiries.delete(old)
    }
    expiries.delete(hash)
    expiries.set(hash, now() + MEMORY_MS)
  }

  function recall({ hash }: Op): boolean {
    const expiry = expiries.get(hash) ?? 0
    expiries.delete(hash)
    return expiry > now()
  }

  const isAmple = (op: Op) => (holdingOf(op.outputToken) ?? 0n) >= op.quotedOutput * AMPLE
  const isSafe = (op: Op) => !isPurchase(op) && op.outputToken !== strangeToken && isAmple(op)

  return {
    ...chain,
    async simulateDelivery(op, as) {
      if (as && recall(op) && isSafe(op)) return { kind: 'ok' }
      const simulation = await chain.simulateDelivery(op, as)
      if (!as && simulation.kind === 'ok') remember(op)
      return simulation
    },
  }
}

export type DecideRefundDeps = {
  originOf(chainId: number): OriginChain
  moves: Moves
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
  await deps.moves.advance({ swap, event: 'deliveryImpossible', refundReason, proof }, { lease })
}

/** Fails a swap whose lock a reorg undid for good: nothing was taken, nothing was paid, and no delivery can follow. */
async function failIfNeverLocked({ moves, originOf }: DecideRefundDeps, swap: Swap): Promise<void> {
  const origin = originOf(swap.op.originChain)
  const { hard } = await origin.readHeads()
  const state = (await origin.readLocks([swap.op], hard)).get(swap.op.hash)
  if (state !== 'none' || !origin.isLockOver(swap, hard)) return
  const proof = { kind: 'notLockedPastDeadline', chainId: swap.op.originChain, block: hard } as const
  await moves.advance({ swap, event: 'lockDead', failureCode: 'OPERATION_EXPIRED', proof })
}
