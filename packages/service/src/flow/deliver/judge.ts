import type { DestinationChain, Heads } from '../../chains/chain.ts'
import type { Sender } from '../../lanes/sender.ts'
import { isPaid } from '../../model/lifecycle.ts'
import type { RefundReason } from '../../model/outcome.ts'
import type { Swap } from '../../model/swap.ts'

type Verdict = { kind: 'deliver' } | { kind: 'wait' } | { kind: 'impossible'; reason: RefundReason }

export type JudgeDeps = {
  destination: DestinationChain
  sender: Pick<Sender, 'address' | 'affords' | 'termsAt'>
  isLive(): boolean
  /** For how long the destination has been unreachable. */
  downSeconds(): number
  isPriceKept(swap: Swap): boolean | undefined
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

function awaitDestination(deps: JudgeDeps): Verdict {
  return deps.downSeconds() < deps.patienceSeconds ? { kind: 'wait' } : impossible('DESTINATION_UNAVAILABLE')
}

function impossible(reason: RefundReason): Verdict {
  return { kind: 'impossible', reason }
}
