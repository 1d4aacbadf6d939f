import type { DestinationChain, Heads, OriginChain } from '../../chains/chain.ts'
import type { Sender } from '../../lanes/sender.ts'
import type { FailureCode } from '../../model/outcome.ts'
import type { Op, Swap } from '../../model/swap.ts'

export type Readiness =
  | { kind: 'ready' }
  | { kind: 'wait' }
  /** A reorg undid the deposit: it may come back. */
  | { kind: 'depositLost' }
  | { kind: 'decline'; code: FailureCode }

export type ReadinessDeps = {
  origin: OriginChain
  sender: Pick<Sender, 'affords'>
  destinationOf(chainId: number): DestinationChain
  isLive(chainId: number): boolean
  /** Whether the destination has been unreachable for so long that waiting is pointless. */
  isGone(chainId: number): boolean
  /** Whether a chain's finality is so late that nothing new is taken or paid there. */
  isLate(chainId: number): boolean
  /** Whether the input still buys at least the price floor; undefined without a fresh price. */
  isPriceKept(swap: Swap): boolean | undefined
  /** The time before its deadline within which a lock would come too late. */
  lateLockSeconds: number
}

/**
 * Decides whether to lock this swap now. Checks everything that would make the lock fail or the delivery impossible
 * before the operator pays gas, and declines while nothing was signed.
 */
export async function readinessOf(deps: ReadinessDeps, heads: Heads, swap: Swap): Promise<Readiness> {
  const { op } = swap
  if (isExpired(op, heads, deps.lateLockSeconds)) return { kind: 'decline', code: 'OPERATION_EXPIRED' }
  if (deps.isGone(op.destinationChain)) return { kind: 'decline', code: 'DESTINATION_UNAVAILABLE' }
  if (!deps.isLive(op.destinationChain)) return { kind: 'wait' }
  if (deps.isLate(op.originChain) || deps.isLate(op.destinationChain)) return { kind: 'wait' }
  const kept = deps.isPriceKept(swap)
  if (kept === undefined) return { kind: 'wait' }
  if (!kept) return { kind: 'decline', code: 'PRICE_MOVED' }
  const [obstacle, delivery] = await Promise.all([
    deps.origin.findObstacle(swap),
    deps.destinationOf(op.destinationChain).simulateDelivery(op),
  ])
  if (obstacle === 'INPUT_UNAVAILABLE' && op.method === 'deposit') return { kind: 'depositLost' }
  if (obstacle) return { kind: 'decline', code: obstacle }
  if (delivery.kind === 'recipientRefuses') return { kind: 'decline', code: 'RECIPIENT_INVALID' }
  if (delivery.kind === 'noLiquidity') return { kind: 'decline', code: 'DESTINATION_UNAVAILABLE' }
  if (delivery.kind === 'priceMoved') return { kind: 'decline', code: 'PRICE_MOVED' }
  const isReady = delivery.kind === 'ok' && (await deps.sender.affords(heads, op.lockFeeBound))
  return { kind: isReady ? 'ready' : 'wait' }
}

/** Every block from now on is past the op's deadline, or this close to it. */
export const isExpired = ({ opDeadline }: Op, { head }: Heads, lateSeconds = 0): boolean =>
  head.seconds + lateSeconds >= opDeadline
