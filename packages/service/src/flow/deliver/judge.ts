import type { DestinationChain, Heads } from '../../chains/chain.ts'
import type { Sender } from '../../lanes/sender.ts'
import type { RefundReason } from '../../model/outcome.ts'
import type { Swap } from '../../model/swap.ts'

export type Verdict = { kind: 'deliver' } | { kind: 'wait' } | { kind: 'impossible'; reason: RefundReason }

export type JudgeDeps = {
  destination: DestinationChain
  sender: Pick<Sender, 'address' | 'affords'>
  isLive(): boolean
  /** How long the destination has been out of reach. */
  downSeconds(): number
  isPriceKept(swap: Swap): boolean | undefined
  /** Whether the input could still be claimed in time; undefined while the time of its chain is not known. */
  isClaimable(op: Swap['op']): boolean | undefined
  /** Whether a chain is final so late that nothing new is paid from or to it. */
  isLate(chainId: number): boolean
  cutOffSeconds: number
  patienceSeconds: number
}

/**
 * Whether a swap that is locked can be delivered now. Delivery is owed: only these reasons stand against it.
 * Without a fresh price it is delivered as quoted; one that was said to be settled is delivered whatever it costs.
 */
export async function judgeDelivery(deps: JudgeDeps, heads: Heads | undefined, swap: Swap): Promise<Verdict> {
  if (!heads || !deps.isLive()) return awaitDestination(deps)
  if (heads.head.seconds > swap.op.fillDeadline - deps.cutOffSeconds) return impossible('DELIVERY_EXPIRED')
  const isClaimable = deps.isClaimable(swap.op)
  if (isClaimable === undefined) return { kind: 'wait' }
  if (!isClaimable) return impossible('DELIVERY_EXPIRED')
  if (isReportedSettled(swap)) return { kind: 'deliver' }
  if (deps.isLate(swap.op.originChain) || deps.isLate(swap.op.destinationChain)) return { kind: 'wait' }
  if (deps.isPriceKept(swap) === false) return impossible('PRICE_MOVED')
  const simulation = await deps.destination.simulateDelivery(swap.op, deps.sender.address)
  if (simulation.kind === 'recipientRefuses') return impossible('RECIPIENT_INVALID')
  if (simulation.kind === 'noLiquidity') return impossible('NO_LIQUIDITY')
  if (simulation.kind === 'priceMoved') return impossible('PRICE_MOVED')
  const isReady = simulation.kind === 'ok' && (await deps.sender.affords(heads, swap.op.deliveryFeeBound))
  return { kind: isReady ? 'deliver' : 'wait' }
}

/** Its caller was told that it is settled. */
export function isReportedSettled({ state }: Swap): boolean {
  return state === 'settled' || state === 'claiming'
}

function awaitDestination(deps: JudgeDeps): Verdict {
  return deps.downSeconds() < deps.patienceSeconds ? { kind: 'wait' } : impossible('DESTINATION_UNAVAILABLE')
}

function impossible(reason: RefundReason): Verdict {
  return { kind: 'impossible', reason }
}
