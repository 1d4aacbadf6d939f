import {
  isOpen,
  nextState,
  publicStatus,
  refundDueStates,
  unpaidEndStates,
} from '../../src/swap/lifecycle.ts'
import type { Rules } from './rules.ts'
import {
  type Attempt,
  isDeposited,
  isFinal,
  isLive,
  isOnChain,
  isPast,
  type ModelState,
  type Step,
} from './state.ts'

/**
 * The invariants of every state, by their numbers in the money-safety design. INV-8, no lost swap, concerns paths: no
 * dead end and no endless cycle. The missing ones do not concern the protocol of one swap: 10, 16 and 21 hold by
 * construction; 12, 17 to 20, 23 and 24 concern ledgers, fees, tenants and logs.
 */
export const stateRules = {
  'INV-1 at most one delivery': (state) => count(state.deliveries, isFinal) <= 1,
  'INV-2 never delivered and refunded': (state) =>
    !(state.deliveries.some(isFinal) && refundsOf(state, isFinal) > 0),
  'INV-3 at most one refund': (state) => refundsOf(state, isFinal) <= 1,
  'INV-4 settled is true': (state) => publicStatus(state.swap) !== 'settled' || isPayable(state),
  'INV-5 refunded is true': (state) => state.swap !== 'refunded' || refundsOf(state, isFinal) === 1,
  'INV-6 failed is true': (state) => state.swap !== 'failed' || !isOnChain(state.lock),
  'INV-9 written ahead': (state) => state.deliveries.every((each) => each.keeper === 'log' || !wasSent(each)),
  'INV-11 nothing is lost': (state, rules) => !isOver(state) || isConserved(state, rules),
  'INV-11 a deposit is locked or returned once': (state) =>
    state.deposit !== 'returned' || !isOnChain(state.lock),
  'INV-13 exposure within its cap': (state, rules) => exposureOf(state) <= rules.exposureCap,
  'INV-14 the escrow covers its inputs': (state) =>
    count([state.claim], isFinal) + refundsOf(state, isFinal) <= count([state.lock], isOnChain),
  'INV-15 no claim without a final delivery': (state) =>
    state.attested !== 'claim' || (state.deliveries.some(isFinal) && isFinal(state.lock)),
} satisfies Record<string, (state: ModelState, rules: Rules) => boolean>

/** The rules of every step. */
export const stepRules = {
  'table: has every transition': (from, { to, event }) =>
    event ? nextState(from.swap, event) === to.swap : from.swap === to.swap,
  'INV-2 no delivery is signed after a refund decision': (from, { to }) =>
    !closedToDelivery.includes(from.swap) ||
    count(to.deliveries, isSigned) <= count(from.deliveries, isSigned),
  'INV-7 terminal is final': (from, { to }) =>
    publicStatus(from.swap) === 'pending' || publicStatus(from.swap) === publicStatus(to.swap),
  'INV-22 no money decision without a proof': (from, { to, proof }) =>
    from.swap === to.swap ||
    !['failed', 'refundDecided'].includes(to.swap) ||
    (proof !== undefined && proof !== 'timer'),
} satisfies Record<string, (from: ModelState, step: Step) => boolean>

export type RuleName = keyof typeof stateRules | keyof typeof stepRules

const closedToDelivery = [...refundDueStates, ...unpaidEndStates]

type Test = (attempt: Attempt) => boolean

const count = (attempts: readonly Attempt[], test: Test) => attempts.filter(test).length
const isSigned: Test = ({ place }) => place === 'signed'
const wasSent: Test = ({ place }) => place === 'flight' || place === 'included' || place === 'final'

function refundsOf({ refunds, strangerRefund }: ModelState, test: Test): number {
  return count([...refunds, { place: strangerRefund } as Attempt], test)
}

/** Delivered, or still deliverable: bytes that can land, or time to sign others. */
function isPayable(state: ModelState): boolean {
  if (state.deliveries.some(isOnChain) || !isPast(state, 'cutOff')) return true
  return !isPast(state, 'fillPast') && state.deliveries.some((each) => isLive(each) && each.keeper === 'log')
}

/** Nothing is left to do: neither for the row, nor at the op's address. */
export const isOver = (state: ModelState): boolean => !isOpen(state.swap) && !isDeposited(state)

/** The wallet's three fair outcomes: swapped, untouched, or fully refunded. */
function isConserved(state: ModelState, { exposureCap }: Rules): boolean {
  const taken = count([state.lock], isOnChain)
  const paid = count(state.deliveries, isOnChain)
  const claimed = count([state.claim], isOnChain)
  const returned = refundsOf(state, isOnChain)
  const outcome = `${taken}${paid}${claimed}${returned}`
  // A loss of the operator, bounded by the exposure cap: delivered against a lock that a reorg undid.
  const isGift = exposureCap > 0 && outcome === '0100'
  return ['1110', '0000', '1001'].includes(outcome) || isGift
}

/** Swaps that are or may be delivered against a lock that a reorg can still undo. */
export function exposureOf({ deliveries, lock }: ModelState): number {
  return !isFinal(lock) && deliveries.some((each) => isLive(each) || isOnChain(each)) ? 1 : 0
}
