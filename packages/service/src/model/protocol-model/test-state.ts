import type { SwapEvent, SwapState } from '../lifecycle.ts'
import type { Rules } from './test-rules.ts'

/**
 * Where a signed transaction is. `flight`: some node has it. `included`: in a block that a reorg may undo.
 * `dead`: at a hard-final block it has not taken effect, and it never will.
 */
export type Place = 'unsigned' | 'signed' | 'flight' | 'included' | 'final' | 'dead'

/** Who knows of it: the write-ahead log, one live process, or nobody since that process died. */
export type Keeper = 'log' | 'memory' | 'nobody'

/** `generation`: which marker it creates. */
export type Attempt = { place: Place; keeper: Keeper; generation: 0 | 1 }

/** Time as the deadlines cut it. `lockLate`: a lock undone now could not be repeated. `fillLate`: nor a delivery. */
export const clocks = ['early', 'lockLate', 'opOver', 'fillLate', 'cutOff', 'fillOver', 'refundOpen'] as const
export type Clock = (typeof clocks)[number]

/**
 * A delivery told as settled before it was final. `safe`: a reorg leaves time to repeat it. `repeating`: undone,
 * and being repeated. `repeated`: included for the second time. `late`: told when there was no such time.
 */
export type Told = 'no' | 'safe' | 'repeating' | 'repeated' | 'late'

/** What a stranger put on the first marker of the delivery or the refund. */
export type Funding = 'none' | 'included' | 'final'

/** One swap: its row, the attempts on record, both chains, and what a live process is about to do. */
export type ModelState = {
  swap: SwapState
  originFinal: boolean
  deliveryFinal: boolean
  exposed: boolean
  /** The one outcome that the attester ever signs. */
  attested: 'none' | 'claim' | 'refund'
  /** Refunds that were attested and not sent yet. */
  papers: number
  clock: Clock
  lock: Attempt
  deliveries: readonly Attempt[]
  claim: Attempt
  refunds: readonly Attempt[]
  strangerRefund: 'none' | 'included' | 'final'
  told: Told
  deliveryFunding: Funding
  refundFunding: Funding
  walletTakes: boolean
  /** What a process decided from a row that it read, and has not written yet. */
  intent: 'none' | 'lock' | 'deliver'
}

export type Step = { name: string; to: ModelState; event?: SwapEvent; proof?: string }

const unsigned: Attempt = { place: 'unsigned', keeper: 'nobody', generation: 0 }

export function startOf({ origin }: Rules): ModelState {
  return {
    swap: 'accepted',
    originFinal: false,
    deliveryFinal: false,
    exposed: false,
    attested: 'none',
    papers: 0,
    clock: 'early',
    lock: unsigned,
    deliveries: [unsigned, unsigned],
    claim: unsigned,
    // The escrow's slot is one; a marker has to hold against two.
    refunds: origin === 'solana' ? [unsigned, unsigned] : [unsigned],
    strangerRefund: 'none',
    told: 'no',
    deliveryFunding: 'none',
    refundFunding: 'none',
    walletTakes: true,
    intent: 'none',
  }
}

/** One text per state: attempts of one kind are interchangeable, so their order is not part of it. */
export function encode(state: ModelState): string {
  const { lock, deliveries, claim, refunds, ...plain } = state
  const sorted = (attempts: readonly Attempt[]) => attempts.map(nameOf).sort().join(',')
  return [
    ...Object.values(plain),
    ...[nameOf(lock), sorted(deliveries), nameOf(claim), sorted(refunds)],
  ].join('|')
}

const nameOf = ({ place, keeper, generation }: Attempt) => `${place}:${keeper}:${generation}`

export const isPast = (state: ModelState, clock: Clock): boolean =>
  clocks.indexOf(state.clock) >= clocks.indexOf(clock)

export const isOnChain = ({ place }: Attempt): boolean => place === 'included' || place === 'final'
export const isLive = ({ place }: Attempt): boolean => place === 'signed' || place === 'flight'
export const isFinal = ({ place }: Attempt): boolean => place === 'final'
export const isDead = ({ place }: Attempt): boolean => place === 'dead'
export const isKnown = ({ place, keeper }: Attempt): boolean => place !== 'unsigned' && keeper !== 'nobody'

/** Attempts that the service knows of. */
export const knownOf = (attempts: readonly Attempt[]): Attempt[] => attempts.filter(isKnown)

/** The same attempts with one of them elsewhere. A dead one that nobody knows of is as good as never signed. */
export function replaceAt(attempts: readonly Attempt[], index: number, changed: Partial<Attempt>): Attempt[] {
  return attempts.map((attempt, i) => (i === index ? forgetDead({ ...attempt, ...changed }) : attempt))
}

export function forgetDead(attempt: Attempt): Attempt {
  return attempt.place === 'dead' && attempt.keeper === 'nobody' ? unsigned : attempt
}

/** Where a new attempt finds room: dead ones make way, so that their number has no bound. */
export const findRoom = (attempts: readonly Attempt[]): number =>
  attempts.findIndex(({ place }) => place === 'unsigned' || place === 'dead')
