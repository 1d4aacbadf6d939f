import type { SlotState } from '@geoswap/protocol'
import { nextState, type SwapEvent } from '../../src/swap/lifecycle.ts'
import { decideExit, decideLocked, decideNeverLocked } from '../../src/swap/origin.ts'
import type { Swap } from '../../src/swap/swap.ts'
import { recover } from './chains.ts'
import type { Rules } from './rules.ts'
import {
  type Attempt,
  type Clock,
  findRoom,
  isDead,
  isDeposited,
  isFinal,
  isLive,
  isOnChain,
  isPast,
  knownOf,
  type ModelState,
  replaceAt,
  type Step,
  shownOf,
  signed,
} from './state.ts'

/**
 * The possible next steps of the service. They depend only on the row, the attempts and the chains, so any process can
 * take them.
 */
export function workerSteps(state: ModelState, rules: Rules, hasRoom: boolean): Step[] {
  return [
    ...watchDeposit(state, rules),
    ...lock(state, rules),
    ...send(state),
    ...watchOrigin(state, rules),
    ...retryLock(state, rules),
    ...deliver(state, rules, hasRoom),
    ...watchDestination(state, rules),
    ...decideRefund(state, rules),
  ]
}

/**
 * A transition by production's table; none if the table lacks it. It voids plans that other processes made from the
 * previous version.
 */
export function move(
  state: ModelState,
  rules: Rules,
  change: { name: string; event: SwapEvent; proof?: string; patch?: Partial<ModelState> },
): Step[] {
  const { name, event, proof, patch } = change
  const swap = nextState(state.swap, event)
  if (swap === undefined) return []
  const intent = rules.comparesVersion ? 'none' : state.intent
  const exposed = state.exposed && swap !== 'failed' && swap !== 'refunded'
  const to = { ...state, intent, exposed, ...patch, swap }
  return [{ name: `service: ${name}`, to, event, ...(proof && { proof }) }]
}

/** Rows move by what lies at the op's address; afterwards the service empties it. */
function watchDeposit(state: ModelState, rules: Rules): Step[] {
  const isOver = isPast(state, 'opOver')
  const decline = { name: 'decline, no deposit', event: 'declined', proof: 'notLockedPastDeadline' } as const
  const isLost = state.swap === 'accepted' && rules.input === 'deposit' && !isDeposited(state)
  return [
    ...(state.swap === 'awaitingDeposit' && isDeposited(state) && !isOver
      ? move(state, rules, { name: 'see deposit', event: 'depositSeen' })
      : []),
    ...(state.swap === 'awaitingDeposit' && isOver ? move(state, rules, decline) : []),
    ...(isLost && !isOver ? move(state, rules, { name: 'miss deposit', event: 'depositLost' }) : []),
    // At a final block, and no row waits for it.
    ...(rules.recoversDeposits && state.swap !== 'awaitingDeposit' && state.deposit === 'final'
      ? recover(state, 'service')
      : []),
  ]
}

function lock(state: ModelState, rules: Rules): Step[] {
  const plan = { name: 'service: plan lock', to: { ...state, intent: 'lock' as const } }
  const isPlannable = state.swap === 'accepted' && state.intent === 'none' && !isPast(state, 'opOver')
  const decline = { name: 'decline', event: 'declined', proof: 'neverSigned' } as const
  return [
    ...(isPlannable ? [plan] : []),
    ...(state.intent === 'lock' ? signLock(state, rules) : []),
    ...(state.swap === 'accepted' ? move(state, rules, decline) : []),
  ]
}

function signLock(state: ModelState, rules: Rules): Step[] {
  const patch = { lock: signed('log'), intent: 'none' } as const
  const recorded = move(state, rules, { name: 'record lock', event: 'lockRecorded', patch })
  if (recorded.length > 0 || rules.comparesVersion || rules.hasTriggers) return recorded
  return [{ name: 'service: record lock', to: { ...state, ...patch } }]
}

/** Any process that knows the signed bytes may send them. The node's answer changes nothing. */
function send(state: ModelState): Step[] {
  const sent = { place: 'flight' } as const
  const isReady = ({ place, keeper }: Attempt) => place === 'signed' && keeper !== 'nobody'
  const all = (attempts: readonly Attempt[]) => attempts.flatMap((each, i) => (isReady(each) ? [i] : []))
  const { lock, claim, deliveries, refunds } = state
  return [
    ...all([lock]).map(() => ({ name: 'service: send lock', to: { ...state, lock: { ...lock, ...sent } } })),
    ...all([claim]).map(() => ({
      name: 'service: send claim',
      to: { ...state, claim: { ...claim, ...sent } },
    })),
    ...all(deliveries).map((i) => ({
      name: 'service: send delivery',
      to: { ...state, deliveries: replaceAt(deliveries, i, sent) },
    })),
    ...all(refunds).map((i) => ({
      name: 'service: send refund',
      to: { ...state, refunds: replaceAt(refunds, i, sent) },
    })),
  ]
}

// Arbitrary numbers; only the order of the three moments matters.
const OP_DEADLINE = 100
const REORG_SECONDS = 10
const LATE = OP_DEADLINE - REORG_SECONDS
const HARD_DEPTH = 6
const AT = { head: { number: 10n }, hard: { number: 5n } }

/** Applies the production decisions to the model's chain. */
function watchOrigin(state: ModelState, rules: Rules): Step[] {
  const { swap, originFinal, deliveryFinal } = state
  const op = { opDeadline: OP_DEADLINE, valueCents: 1n }
  const row = { state: swap, originFinal, deliveryFinal, op } as Swap
  const decision = decide(row, state, rules)
  switch (decision) {
    case 'nothing':
    case 'lockFound':
    case 'rescan':
    case 'wait':
    case 'late':
    case 'done':
      return []
    case 'lockFinal':
      return [{ name: 'service: note final lock', to: { ...state, originFinal: true, exposed: false } }]
    case 'lockDead':
      return move(state, rules, { name: 'fail, op over', event: decision, proof: 'notLockedPastDeadline' })
    case 'inputLost':
      return move(state, rules, {
        name: 'close, input lost',
        event: decision,
        proof: 'notLockedPastDeadline',
      })
    default:
      return move(state, rules, { name: `see ${decision}`, event: decision })
  }
}

/** In production's order: first locks that are not known yet, then final blocks. */
function decide(row: Swap, state: ModelState, rules: Rules) {
  const [soft, hard] = [stateAt(state, rules, isOnChain), stateAt(state, rules, isFinal)]
  if (row.state === 'locked' && soft === 'none') return 'lockLost'
  if (soft === 'none' && isLockOver(state, rules)) return decideNeverLocked(row, hard)
  if (row.state === 'accepted' || soft === 'none') return 'nothing'
  if (row.state === 'locking') return decideLocked(row, lockOf(state, hard !== 'none'), depthsOf(rules))
  const exit = hard === 'claimed' || hard === 'refunded' ? decideExit(row, hard) : 'wait'
  if (exit !== 'wait' || hard === 'none' || row.originFinal) return exit
  return 'lockFinal'
}

function lockOf(state: ModelState, isLockFinal: boolean) {
  const seconds = isPast(state, 'opOver') ? OP_DEADLINE + 1 : isPast(state, 'lockLate') ? LATE : 0
  return { block: isLockFinal ? AT.hard.number : AT.head.number, seconds }
}

function depthsOf({ acceptAt }: Rules) {
  const accept = [{ depth: acceptAt === 'soft' ? 1 : HARD_DEPTH }]
  const times = { reorgWindowSeconds: REORG_SECONDS, hardSeconds: REORG_SECONDS }
  return { rules: { accept, settle: 1, hard: HARD_DEPTH, ...times }, at: AT }
}

function stateAt(state: ModelState, rules: Rules, isThere: (attempt: Attempt) => boolean): SlotState {
  if (!isThere(state.lock)) return 'none'
  const isRefundThere = rules.refundedAt === 'inclusion' ? isOnChain : isThere
  const isStranger = isRefundThere({ place: state.strangerRefund } as Attempt)
  if (isStranger || state.refunds.some(isRefundThere)) return 'refunded'
  return isThere(state.claim) ? 'claimed' : 'locked'
}

/** A hard-final block past the op deadline without the lock; on Solana, past the last height of its one transaction. */
function isLockOver(state: ModelState, { origin }: Rules): boolean {
  return isDead(state.lock) && (origin === 'solana' || isPast(state, 'opOver'))
}

/** Every signed lock was consumed without locking: sign another, or fail. */
function retryLock(state: ModelState, rules: Rules): Step[] {
  // A wallet signs one Solana transaction: there is no second one to send.
  const isRepeatable = rules.origin === 'evm' && !isPast(state, 'opOver')
  if (isIn(state, ['delivering', 'settled']) && !state.originFinal && isDead(state.lock) && isRepeatable)
    return [{ name: 'service: record lock of a paid swap', to: { ...state, lock: signed('log') } }]
  if (state.swap !== 'locking') return []
  const timer = { name: 'fail, too slow', event: 'lockDead', proof: 'timer' } as const
  const early = rules.failNeeds === 'timer' ? move(state, rules, timer) : []
  if (!isDead(state.lock)) return early
  const fail = { name: 'fail, lock dead', event: 'lockDead', proof: 'attemptsConsumedUnlocked' } as const
  const again = { name: 'record lock again', event: 'lockRecorded', patch: { lock: signed('log') } } as const
  return [...early, ...move(state, rules, fail), ...(isRepeatable ? move(state, rules, again) : [])]
}

const delivering = ['locked', 'delivering'] as const
const owing = ['settled', 'claiming'] as const
const isIn = (state: ModelState, states: readonly string[]) => states.includes(state.swap)

function deliver(state: ModelState, rules: Rules, hasRoom: boolean): Step[] {
  const plan = { name: 'service: plan delivery', to: { ...state, intent: 'deliver' as const } }
  const isPlannable = state.intent === 'none' && mayDeliver(state, rules)
  return [
    ...(isPlannable ? [plan] : []),
    ...(state.intent === 'deliver' ? signDelivery(state, rules, hasRoom) : []),
  ]
}

function mayDeliver(state: ModelState, rules: Rules): boolean {
  const isOwed = isIn(state, owing) && rules.redeliversSettled && !state.deliveryFinal
  if (isPast(state, 'cutOff') || !(isIn(state, delivering) || isOwed)) return false
  const known = knownOf(state.deliveries)
  if (state.swap === 'locked' && known.length === 0) return true
  const isPaid = rules.hasDeliveryGuard && shownOf(state).length > 0
  return !isPaid && (known.every(isDead) || !rules.signsAgainAfterDeath)
}

/** Records bytes, exposure and transition in one database transaction: all or nothing. */
function signDelivery(state: ModelState, rules: Rules, hasRoom: boolean): Step[] {
  const room = findRoom(state.deliveries)
  const isRefused = rules.hasTriggers && !isIn(state, [...delivering, ...owing])
  const isExposed = !state.originFinal
  if (room < 0 || isRefused || (isExposed && rules.booksExposure && !state.exposed && !hasRoom)) return []
  const keeper = rules.writesAhead ? 'log' : 'memory'
  const patch = {
    deliveries: replaceAt(state.deliveries, room, signed(keeper)),
    exposed: isExposed && rules.booksExposure,
    intent: 'none',
  } as const
  const name = 'record delivery'
  const recorded = move(state, rules, { name, event: 'deliveryRecorded', patch })
  if (recorded.length > 0 || rules.comparesVersion) return recorded
  return [{ name: `service: ${name}`, to: { ...state, ...patch } }]
}

function watchDestination(state: ModelState, rules: Rules): Step[] {
  const readable = rules.hasDeliveryGuard ? shownOf(state) : knownOf(state.deliveries)
  const isPaid = readable.some(isFinal)
  if (isIn(state, owing) && isPaid && !state.deliveryFinal) {
    return [{ name: 'service: note final delivery', to: { ...state, deliveryFinal: true } }]
  }
  if (isPaid) return move(state, rules, { name: 'see final delivery', event: 'deliverySeen' })
  const isEarly = !isPast(state, 'fillLate')
  const counts = rules.settleAt === 'soft' && (isEarly || !rules.settlesOnlyRepeatable)
  if (!counts || !readable.some(isOnChain)) return []
  const patch = { reported: isEarly ? 'safe' : 'late' } as const
  return move(state, rules, { name: 'see delivery', event: 'deliverySeen', patch })
}

/** After this decision no delivery may be signed. It requires a final input and a proof. */
function decideRefund(state: ModelState, rules: Rules): Step[] {
  if (!isIn(state, delivering)) return []
  const proof = proofOfNoDelivery(state, rules)
  if (!proof) return []
  if (state.originFinal)
    return move(state, rules, { name: 'decide refund', event: 'deliveryImpossible', proof })
  const isNeverLocked = proof !== 'neverSigned' && isLockOver(state, rules)
  const fail = { name: 'fail, never locked', event: 'lockDead', proof: 'notLockedPastDeadline' } as const
  return isNeverLocked ? move(state, rules, fail) : []
}

/** The moment from which a missing delivery proves that none follows. */
export const overAt = ({ overAt }: Rules): Clock => (overAt === 'final' ? 'fillOver' : 'fillPast')

function proofOfNoDelivery(state: ModelState, rules: Rules): string | undefined {
  const { deliveries } = state
  if (rules.refundNeeds === 'timer') return 'timer'
  const isUnpaid = shownOf(state).length === 0
  const isOver = isPast(state, overAt(rules)) && isUnpaid
  if (rules.refundNeeds === 'silence') {
    const isSilent = isOver || (rules.destination === 'solana' && isUnpaid && !deliveries.some(isLive))
    return isSilent ? 'silence' : undefined
  }
  const known = knownOf(deliveries)
  if (known.length === 0 && state.swap === 'locked') return 'neverSigned'
  if (state.swap === 'delivering' && isOver) return 'notDeliveredPastDeadline'
  const isReadUnpaid = !rules.hasDeliveryGuard || isUnpaid
  return known.every(isDead) && isReadUnpaid ? 'attemptsConsumedUndelivered' : undefined
}
