import type { DestinationChain, Heads, OriginChain } from '../../chains/chain.ts'
import type { Sender } from '../../engine/sender.ts'
import type { Screening } from '../../screen/denials.ts'
import { findExceeded, type GasBudgets, type Wasted } from '../../swap/budgets.ts'
import type { FailureCode } from '../../swap/lifecycle.ts'
import { partiesOf } from '../../swap/parties.ts'
import { type Paid, withPaid } from '../../swap/pricing.ts'
import { isPayment, type Op, type Swap } from '../../swap/swap.ts'
import { isSent, wayOf } from '../../ways/registry.ts'
import { judgeSent } from './screen-deposits.ts'

export type Readiness =
  /** `lowered`: the market moved, and the lock records that less is paid. */
  | { kind: 'ready'; lowered?: Paid }
  | { kind: 'wait' }
  /** A reorg undid the deposit: it may come back. */
  | { kind: 'depositLost' }
  | { kind: 'decline'; code: FailureCode }

export type ReadinessDeps = {
  origin: OriginChain
  sender: Pick<Sender, 'affords' | 'simulates'>
  destinationOf(chainId: number): DestinationChain
  isLive(chainId: number): boolean
  /** Whether the destination has been unreachable for so long that waiting is pointless. */
  isGone(chainId: number): boolean
  /** Whether a chain's finality is so late that nothing new is taken or paid there. */
  isLate(chainId: number): boolean
  /**
   * The payment of an op if it is locked now; `moved` if that is below its minimum, undefined without a price that is
   * as new as this time of the database.
   */
  paidNow(op: Op, at: number): Paid | 'moved' | undefined
  gasBudgets: GasBudgets
  /** Whether the parties of a swap are served. Absent if everybody is. */
  screening?: Pick<Screening, 'ofSwap' | 'isStrict'> | undefined
  /** The time before its deadline within which a lock would come too late. */
  lateLockSeconds: number
}

/**
 * Decides whether to lock this swap now. Checks everything that would make the lock fail or the delivery impossible
 * before the operator pays gas, and declines while nothing was signed.
 */
export async function readinessOf(
  deps: ReadinessDeps,
  heads: Heads,
  swap: Swap,
  wasted?: Wasted,
): Promise<Readiness> {
  const { op } = swap
  if (isExpired(op, heads, deps.lateLockSeconds)) return { kind: 'decline', code: 'OPERATION_EXPIRED' }
  if (isOverBudget(deps, op, wasted)) return { kind: 'decline', code: 'INPUT_UNAVAILABLE' }
  if (deps.isGone(op.destinationChain)) return { kind: 'decline', code: 'DESTINATION_UNAVAILABLE' }
  if (!deps.isLive(op.destinationChain)) return { kind: 'wait' }
  if (deps.isLate(op.originChain) || deps.isLate(op.destinationChain)) return { kind: 'wait' }
  const paid = priceOf(deps, swap)
  if (paid === undefined) return { kind: 'wait' }
  if (paid === 'moved') return { kind: 'decline', code: 'PRICE_MOVED' }
  const [obstacle, delivery, verdict, sent] = await Promise.all([
    deps.origin.findObstacle(swap),
    deps.destinationOf(op.destinationChain).simulateDelivery(withPaid(op, paid)),
    deps.screening?.ofSwap(partiesOf(op), { point: 'lock', swapId: swap.id }),
    judgePayment(deps, heads, swap),
  ])
  if (verdict === 'deny' || sent?.kind === 'deny') return { kind: 'decline', code: 'ADDRESS_BLOCKED' }
  if (obstacle === 'INPUT_UNAVAILABLE' && isSent(op)) return { kind: 'depositLost' }
  if (obstacle) return { kind: 'decline', code: obstacle }
  if (delivery.kind === 'recipientRefuses') return { kind: 'decline', code: 'RECIPIENT_INVALID' }
  if (delivery.kind === 'noLiquidity') return { kind: 'decline', code: 'DESTINATION_UNAVAILABLE' }
  if (delivery.kind === 'priceMoved') return { kind: 'decline', code: 'PRICE_MOVED' }
  if (delivery.kind === 'ok' && !(await isLockable(deps, heads, swap)))
    return { kind: 'decline', code: 'INPUT_UNAVAILABLE' }
  if (verdict === 'unknown' || sent?.kind === 'wait') return { kind: 'wait' }
  const isReady = delivery.kind === 'ok' && (await deps.sender.affords(heads, op.lockFeeBound))
  if (!isReady) return { kind: 'wait' }
  return { kind: 'ready', lowered: paid.output < op.quotedOutput ? paid : undefined }
}

/** Judges those who sent the input of a payment. Undefined for other swaps, and where everybody is served. */
async function judgePayment({ origin, screening }: ReadinessDeps, { head }: Heads, swap: Swap) {
  const { ways } = origin
  return isPayment(swap.op) && screening && ways ? judgeSent({ ways, screening }, swap, head) : undefined
}

/** A deposit is not declined: it lies at its address, whatever else was wasted. */
function isOverBudget({ gasBudgets }: ReadinessDeps, op: Op, wasted: Wasted | undefined): boolean {
  if (!wasted || isSent(op)) return false
  return findExceeded(gasBudgets, wasted, op.isContract ?? false) !== undefined
}

/** Simulates a lock that depends on code of strangers, as the key will send it. */
async function isLockable({ origin, sender }: ReadinessDeps, heads: Heads, swap: Swap): Promise<boolean> {
  if (!swap.op.isContract && !wayOf(swap.op).isSimulated) return true
  return sender.simulates(heads, await origin.planLock([swap]))
}

/**
 * The market sets the amount until a lock is recorded. A lock that had no effect is sent again for that amount or not
 * at all: its wallet may have taken the input away, to bring it back when the market has moved.
 */
function priceOf({ paidNow }: ReadinessDeps, { op, state, changedAt }: Swap): Paid | 'moved' | undefined {
  const paid = paidNow(op, changedAt)
  const isLess = paid !== undefined && paid !== 'moved' && paid.output < op.quotedOutput
  return state !== 'accepted' && isLess ? 'moved' : paid
}

/** Whether a swap waits for a newer price, whatever else there is to know about it. */
export function isAwaitingPrice(deps: ReadinessDeps, heads: Heads, { op, changedAt }: Swap): boolean {
  if (isExpired(op, heads, deps.lateLockSeconds) || deps.isGone(op.destinationChain)) return false
  return deps.paidNow(op, changedAt) === undefined
}

/** Every block from now on is past the op's deadline, or this close to it. */
export const isExpired = ({ opDeadline }: Op, { head }: Heads, lateSeconds = 0): boolean =>
  head.seconds + lateSeconds >= opDeadline

/** The inputs that wait for one key, shared by concurrent lock tasks. */
export type WaitingLocks = {
  /** Reads the database; calls before the reading begins share it. */
  refresh(): Promise<void>
  /** The oldest inputs found, reserved for the caller until they are given back. */
  take(): readonly Swap[]
  giveBack(swaps: readonly Swap[]): void
  /** The inputs of the last reading. */
  last(): readonly Swap[]
  /** Whether it may have left some out. */
  hasMore(): boolean
}

type Options = {
  find(limit: number): Promise<readonly Swap[]>
  /** How many to read: more than are taken, so that blocked inputs do not hold up others. */
  limit: number
  takeSize: number
}

export function createWaitingLocks({ find, limit, takeSize }: Options): WaitingLocks {
  const inHand = new Set<string>()
  let last: readonly Swap[] = []
  let found: readonly Swap[] = []
  let running: Promise<void> = Promise.resolve()
  let next: Promise<void> | undefined

  const look = async (): Promise<void> => {
    next = undefined
    last = await find(limit)
    found = last.filter(({ id }) => !inHand.has(id))
  }
  return {
    refresh() {
      next ??= running.then(look)
      running = next.catch(() => {})
      return next
    },
    take() {
      const taken = found.slice(0, takeSize)
      found = found.slice(takeSize)
      for (const { id } of taken) inHand.add(id)
      return taken
    },
    giveBack(swaps) {
      for (const { id } of swaps) inHand.delete(id)
    },
    last: () => last,
    hasMore: () => last.length === limit,
  }
}
