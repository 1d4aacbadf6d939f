import {
  type FailureCode,
  type RefundReason,
  STATUS_OF,
  type Substatus,
  type SwapStatus,
} from '@geoswap/wire'

/** The internal state of a submitted swap. Public status and substatus are derived from it, never stored beside it. */
export type SwapState =
  | 'awaitingDeposit'
  | 'accepted'
  | 'locking'
  | 'locked'
  | 'delivering'
  | 'settled'
  | 'claiming'
  | 'closed'
  | 'refundDecided'
  | 'refunding'
  | 'refundBlocked'
  | 'refunded'
  | 'failed'

/**
 * The state machine of a submitted swap. `failed` requires that the input is still in the wallet, or that a deposit
 * goes back there: after a lock was seen, only a reorg that removes it can lead to `failed`. From `refundDecided` on,
 * no delivery may be signed, so refund and delivery exclude each other.
 */
export const transitions = {
  awaitingDeposit: { depositSeen: 'accepted', declined: 'failed' },
  // A reorg undid the deposit.
  accepted: { lockRecorded: 'locking', declined: 'failed', depositLost: 'awaitingDeposit' },
  locking: { lockRecorded: 'locking', lockSeen: 'locked', lockDead: 'failed' },
  locked: {
    lockLost: 'locking',
    deliveryRecorded: 'delivering',
    deliveryImpossible: 'refundDecided',
    refundFinal: 'refunded',
  },
  delivering: {
    deliveryRecorded: 'delivering',
    deliverySeen: 'settled',
    deliveryImpossible: 'refundDecided',
    refundFinal: 'refunded',
    // A reorg undid the lock for good, and no delivery can follow: nothing was taken or paid.
    lockDead: 'failed',
  },
  settled: {
    deliveryRecorded: 'settled',
    claimRecorded: 'claiming',
    claimFinal: 'closed',
    // Delivered before its lock was final, and a reorg undid the lock for good: a loss of the operator, within a cap.
    // Or the claim came after the refund deadline, and a third party refunded the input.
    inputLost: 'closed',
  },
  claiming: { claimRecorded: 'claiming', claimFinal: 'closed', inputLost: 'closed' },
  closed: {},
  refundDecided: { refundRecorded: 'refunding', refundFinal: 'refunded', refundRefused: 'refundBlocked' },
  refunding: { refundRecorded: 'refunding', refundFinal: 'refunded', refundRefused: 'refundBlocked' },
  refundBlocked: { refundRecorded: 'refunding', refundFinal: 'refunded' },
  refunded: {},
  failed: {},
} as const satisfies Record<SwapState, Record<string, SwapState>>

export type SwapEvent = { [S in SwapState]: keyof (typeof transitions)[S] }[SwapState]

/** Undefined if the table has no such transition: the caller's copy of the swap is stale. */
export function nextState(state: SwapState, event: SwapEvent): SwapState | undefined {
  const exits: Partial<Record<SwapEvent, SwapState>> = transitions[state]
  return exits[event]
}

const substatuses: Record<SwapState, Substatus> = {
  awaitingDeposit: 'awaitingDeposit',
  accepted: 'accepted',
  locking: 'locking',
  locked: 'locked',
  delivering: 'delivering',
  settled: 'delivered',
  claiming: 'delivered',
  closed: 'delivered',
  refundDecided: 'refunding',
  refunding: 'refunding',
  refundBlocked: 'refundBlocked',
  refunded: 'refunded',
  failed: 'failed',
}

export const publicSubstatus = (state: SwapState): Substatus => substatuses[state]
export const publicStatus = (state: SwapState): SwapStatus => STATUS_OF[substatuses[state]]

type States = readonly SwapState[]
const states = Object.keys(transitions) as SwapState[]

/** States that require further work. */
export const openStates: States = states.filter((state) => Object.keys(transitions[state]).length > 0)
export const endedStates: States = states.filter((state) => !openStates.includes(state))

/** The input has to be deposited: nothing is reserved for it, and nothing can be locked. */
export const awaitingStates: States = ['awaitingDeposit']
/** The input is not known to be locked. */
export const unlockedStates: States = ['accepted', 'locking']
/** The input is locked and the swap neither settled nor to be refunded: it may be delivered. */
export const deliverableStates: States = ['locked', 'delivering']
/** The delivery was reported as settled, and its input is to be claimed. */
export const paidStates: States = ['settled', 'claiming']
/** The input is to be refunded. */
export const refundDueStates: States = ['refundDecided', 'refunding', 'refundBlocked']

/** Inventory is reserved for the output. */
export const reservingStates: States = [...unlockedStates, ...deliverableStates]
/** A delivery was signed and not ruled out. */
export const owedStates: States = ['delivering', ...paidStates]
/** The input may have to be claimed. */
export const claimableStates: States = ['locking', ...deliverableStates, ...paidStates]
/** The reported status is terminal. */
export const reportedStates: States = states.filter((state) => publicStatus(state) !== 'pending')
/** The reported status is settled. */
export const settledStates: States = states.filter((state) => publicStatus(state) === 'settled')
/** The swap ended without a delivery. */
export const unpaidEndStates: States = endedStates.filter((state) => !settledStates.includes(state))

type EndedState = { [S in SwapState]: keyof (typeof transitions)[S] extends never ? S : never }[SwapState]
/** Where an ended swap left its input: with the vault, back in the wallet, or untouched. */
const inputAtEnd: Record<EndedState, 'claimed' | 'refunded' | 'untaken'> = {
  closed: 'claimed',
  refunded: 'refunded',
  failed: 'untaken',
}
const endedWith = (input: 'refunded' | 'untaken'): States =>
  endedStates.filter((state) => inputAtEnd[state as EndedState] === input)
/** The swap ended with its input back in the wallet. */
export const refundedStates = endedWith('refunded')
/** The swap ended before its input was taken. */
export const untakenStates = endedWith('untaken')

export const isOpen = (state: SwapState) => openStates.includes(state)
export const isUnlocked = (state: SwapState) => unlockedStates.includes(state)
export const isDeliverable = (state: SwapState) => deliverableStates.includes(state)
export const isPaid = (state: SwapState) => paidStates.includes(state)
export const isRefundDue = (state: SwapState) => refundDueStates.includes(state)

export type { FailureCode, RefundReason }

/** Messages for swaps that failed before the input was taken. */
export const failureMessages: Record<FailureCode, string> = {
  INVALID_AUTHORIZATION:
    'The signed authorization or permit no longer matched the wallet when the operation ran. Nothing was taken: ' +
    'request a new quote and sign again.',
  INPUT_UNAVAILABLE:
    'The wallet no longer held the input when the operation ran. Nothing was taken: ' +
    'fund the wallet and request a new quote.',
  OPERATION_EXPIRED:
    'The operation could not be included before its deadline. Nothing was taken: request a new quote.',
  RECIPIENT_INVALID:
    'The recipient cannot receive the output. Nothing was taken: ' +
    'choose another recipient and request a new quote.',
  PRICE_MOVED: 'The price moved beyond the slippage limit. Nothing was taken: request a new quote.',
  DESTINATION_UNAVAILABLE: 'The destination cannot deliver now. Nothing was taken: try again later.',
  DEPOSIT_MISSING:
    'No deposit of the input token arrived in time. Whatever else comes to the address goes back to the wallet: ' +
    'request a new quote.',
  DEPOSIT_TOO_SMALL:
    'The deposit was smaller than the input. It goes back to the wallet: request a new quote and send all of it.',
  ADDRESS_BLOCKED:
    'The operator does not serve one of the addresses. Nothing was taken, and a deposit goes back to the wallet: ' +
    'use other addresses, or ask the operator.',
}

type Block = { number: bigint; hash: string; seconds: number }
type AtBlock = { chainId: number; block: Block }

// See docs/decisions.md#failing-early-by-a-consumed-nonce.
/** Evidence of each kind from the chains. Each kind rules out that the other outcome can still happen. */
type Evidence = {
  /** The block is unknown while the destination is silent. */
  neverSigned: { chainId: number; block: Block | undefined }
  attemptsConsumedUnlocked: AtBlock
  notLockedPastDeadline: AtBlock
  attemptsConsumedUndelivered: AtBlock
  notDeliveredPastDeadline: AtBlock
  deliveredNowherePastDeadline: { blocks: readonly AtBlock[] }
  refundedAfterDelivery: AtBlock
}
type ProofKind = keyof Evidence

/** The kinds of proof that an event accepts. The database refuses `failed` and `refundDecided` without a proof. */
export const proofKinds = {
  declined: ['neverSigned', 'notLockedPastDeadline'],
  lockDead: ['attemptsConsumedUnlocked', 'notLockedPastDeadline'],
  deliveryImpossible: [
    'neverSigned',
    'attemptsConsumedUndelivered',
    'notDeliveredPastDeadline',
    'deliveredNowherePastDeadline',
  ],
  inputLost: ['notLockedPastDeadline', 'refundedAfterDelivery'],
} as const satisfies Record<string, readonly ProofKind[]>

type Kinds = typeof proofKinds
export type Proof<Kind extends ProofKind = ProofKind> = { [K in Kind]: { kind: K } & Evidence[K] }[Kind]
export type ProofOf<Event extends keyof Kinds> = Proof<Kinds[Event][number]>
