import type { SwapEvent, SwapState } from '../../src/swap/lifecycle.ts'
import type { Rules } from './rules.ts'

/**
 * The stage of a signed transaction. `flight`: some node has it. `included`: in a block that a reorg may undo. `dead`:
 * a hard-final block shows that it had no effect and never will.
 */
type Place = 'unsigned' | 'signed' | 'flight' | 'included' | 'final' | 'dead'

/** The holder of its bytes: the database, one live process, or nobody after that process died. */
type Keeper = 'log' | 'memory' | 'nobody'

export type Attempt = { place: Place; keeper: Keeper }

/**
 * Time in the stages that the deadlines define. `lockLate`: too late to repeat an undone lock. `fillLate`: too late to
 * repeat an undone delivery. `fillPast`: the newest block is past the fill deadline, and a fork may still include a
 * delivery before it. `fillOver`: the final block is past it.
 */
export const clocks = [
  'early',
  'lockLate',
  'opOver',
  'fillLate',
  'cutOff',
  'fillPast',
  'fillOver',
  'refundOpen',
] as const
export type Clock = (typeof clocks)[number]

/**
 * A delivery reported as settled before it was final. `safe`: a reorg leaves time to repeat it. `repeating`: undone,
 * and being repeated. `repeated`: included for the second time. `late`: reported without time to repeat.
 */
type Reported = 'no' | 'safe' | 'repeating' | 'repeated' | 'late'

/** The payment to the op's own address; `returned`: back in the wallet. The lock takes it from there. */
type Deposit = 'none' | 'included' | 'final' | 'returned'

/** One swap: its row, its recorded attempts, both chains, and the plan of a live process. */
export type ModelState = {
  swap: SwapState
  originFinal: boolean
  deliveryFinal: boolean
  exposed: boolean
  /** The attester signs only one kind of outcome. */
  attested: 'none' | 'claim' | 'refund'
  /** Attested refunds that are not sent yet. */
  unsentRefunds: number
  clock: Clock
  deposit: Deposit
  lock: Attempt
  deliveries: readonly Attempt[]
  claim: Attempt
  refunds: readonly Attempt[]
  strangerRefund: 'none' | 'included' | 'final'
  reported: Reported
  /** The marker of the delivery is gone: no chain shows it any more. */
  isSwept: boolean
  /** Whether the wallet's account can receive a refund of the service. */
  walletTakes: boolean
  /** A decision that a process made from a row it read, and has not written yet. */
  intent: 'none' | 'lock' | 'deliver'
}

export type Step = { name: string; to: ModelState; event?: SwapEvent; proof?: string }

const unsigned: Attempt = { place: 'unsigned', keeper: 'nobody' }

export const signed = (keeper: Keeper): Attempt => ({ place: 'signed', keeper })

export function startOf({ input }: Rules): ModelState {
  return {
    swap: input === 'deposit' ? 'awaitingDeposit' : 'accepted',
    deposit: 'none',
    originFinal: false,
    deliveryFinal: false,
    exposed: false,
    attested: 'none',
    unsentRefunds: 0,
    clock: 'early',
    lock: unsigned,
    deliveries: [unsigned, unsigned],
    claim: unsigned,
    refunds: [unsigned, unsigned],
    strangerRefund: 'none',
    reported: 'no',
    isSwept: false,
    walletTakes: true,
    intent: 'none',
  }
}

/** One string per state. Attempts of one kind are interchangeable, so they are sorted. */
export function encode(state: ModelState): string {
  const { lock, deliveries, claim, refunds, ...plain } = state
  const sorted = (attempts: readonly Attempt[]) => attempts.map(nameOf).sort().join(',')
  return [
    ...Object.values(plain),
    ...[nameOf(lock), sorted(deliveries), nameOf(claim), sorted(refunds)],
  ].join('|')
}

const nameOf = ({ place, keeper }: Attempt) => `${place}:${keeper}`

export const isPast = (state: ModelState, clock: Clock): boolean =>
  clocks.indexOf(state.clock) >= clocks.indexOf(clock)

export const isOnChain = ({ place }: Attempt): boolean => place === 'included' || place === 'final'
export const isLive = ({ place }: Attempt): boolean => place === 'signed' || place === 'flight'
export const isFinal = ({ place }: Attempt): boolean => place === 'final'
export const isDead = ({ place }: Attempt): boolean => place === 'dead'
/** The deliveries that the destination shows. */
export const shownOf = ({ deliveries, isSwept }: ModelState): readonly Attempt[] =>
  isSwept ? [] : deliveries.filter(isOnChain)
/** Whether the input left the escrow. */
export const isPaidOut = ({ claim, refunds, strangerRefund }: ModelState): boolean =>
  [claim, ...refunds].some(isOnChain) || strangerRefund !== 'none'
/** Whether a deposit lies at the op's address. */
export const isDeposited = ({ deposit, lock }: ModelState): boolean =>
  (deposit === 'included' || deposit === 'final') && !isOnChain(lock)
const isKnown = ({ place, keeper }: Attempt): boolean => place !== 'unsigned' && keeper !== 'nobody'

export const knownOf = (attempts: readonly Attempt[]): Attempt[] => attempts.filter(isKnown)

/** Changes one attempt. A dead attempt that nobody knows of equals one that was never signed. */
export function replaceAt(attempts: readonly Attempt[], index: number, changed: Partial<Attempt>): Attempt[] {
  return attempts.map((attempt, i) => (i === index ? forgetDead({ ...attempt, ...changed }) : attempt))
}

export function forgetDead(attempt: Attempt): Attempt {
  return attempt.place === 'dead' && attempt.keeper === 'nobody' ? unsigned : attempt
}

/** The index for a new attempt. It may replace a dead one, so that the number of attempts is unbounded. */
export const findRoom = (attempts: readonly Attempt[]): number =>
  attempts.findIndex(({ place }) => place === 'unsigned' || place === 'dead')
