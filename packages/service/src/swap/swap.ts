import type { InputMethod, Waiting } from '@geoswap/wire'
import type { DepositFacts } from './deposit.ts'
import type { FailureCode, ProofOf, RefundReason, SwapEvent, SwapState } from './lifecycle.ts'
import type { QuotedTerms } from './quote.ts'

/** How an input comes in on an EVM chain, or by the transaction that the wallet signs on Solana. */
export type WayName = InputMethod | 'transaction'

/** Whether the wallet pays the op's own address, as payers by HTTP 402 do. */
export const isPayment = ({ method }: { method: WayName }): boolean => method === 'payment'

/** A signed authorization of EIP-7702 as the caller sent it: the wallet delegates to our code. */
export type SignedDelegation = {
  chainId: number
  address: string
  nonce: number
  yParity: number
  r: string
  s: string
}

/** The stored terms of a swap, without its signature. */
export type Op = QuotedTerms & {
  id: string
  hash: string
  deliveryHash: string
  inputAmount: bigint
  quotedOutput: bigint
  locker: string
  position: bigint
  round: bigint
  opDeadline: number
  fillDeadline: number
  refundDeadline: number
  /** The block at which the wallet held the input. A node behind this block cannot disprove it. */
  walletBlock: bigint
  originBlock: bigint
  destinationBlock: bigint
  method: WayName
  /** The op's own address, which spends a permit or holds a deposit. */
  depositAddress?: string | undefined
  /** The wallet's nonce at the token that its permit was built for. */
  permitNonce?: bigint | undefined
  /** Code of others answered for the wallet at the build: it may answer otherwise in a transaction. */
  isContract?: boolean | undefined
  /** Only the lock is known, not the terms: refunded after its deadline, unless its delivery is found. */
  isOrphan?: boolean
  /** The database may lack signed transactions of this op. Only the chain itself can rule one out. */
  isLogLost?: boolean
}

/** The part of an op that a signature for its input is checked against. */
export type SignedInput = Pick<
  Op,
  | ('hash' | 'wallet' | 'inputToken' | 'inputAmount' | 'opDeadline')
  | ('locker' | 'position' | 'method' | 'permitNonce' | 'isOrphan')
>

export type Swap = {
  id: string
  state: SwapState
  version: number
  op: Op
  /** The wallet's signature, or the whole transaction that it signed. */
  signature: string
  /** The block height after which the chain no longer accepts the signed transaction. */
  lastValid?: bigint
  delegation?: SignedDelegation
  originTxHash?: string
  deliveryTxHash?: string
  originFinal: boolean
  /** Whether the lock is in a safe block; only known if exposure is configured to end there. */
  originSafe: boolean
  deliveryFinal: boolean
  exposedCents: bigint
  /** Its part of the delivered and unclaimed value; 0 before a delivery is signed. */
  unclaimedCents: bigint
  /** When its row changed last, in milliseconds by the clock of the database. */
  changedAt: number
  /** It was paid before its lock was final, for the premium. */
  isPaidFast: boolean
  waiting?: Waiting
  /** Its claim is booked against the cap of its token. */
  isClaimBooked: boolean
  refundReason?: RefundReason
  deposit?: DepositFacts
  /** The senders of its deposit, if they were asked for. */
  depositSenders?: readonly string[]
  /** Its stored terms differed from the signed ones at the last check. */
  isUnsigned?: boolean
}

type Nothing = Record<never, never>

/** The facts that a swap records with each event. */
type Facts = {
  /** Without the deposit if the row has it: its transaction may have been added since. */
  depositSeen: { deposit: DepositFacts | undefined }
  depositLost: { deposit: DepositFacts }
  lockRecorded: Nothing
  declined: { failureCode: FailureCode; proof: ProofOf<'declined'> }
  lockSeen: { originTxHash: string; lockedBlock: bigint }
  lockLost: Nothing
  lockDead: { failureCode: FailureCode; proof: ProofOf<'lockDead'> }
  /** The transaction is unknown if the log of attempts was lost. */
  deliveryRecorded: { deliveryTxHash?: string }
  deliverySeen: { deliveryTxHash: string; delivered?: bigint | undefined; deliveredBlock?: bigint }
  deliveryImpossible: { refundReason: RefundReason; proof: ProofOf<'deliveryImpossible'> }
  claimRecorded: Nothing
  /** The time of the hard-final block that shows the claim; unknown to a rebuild, which recounts the caps. */
  claimFinal: { claimedBySeconds?: number }
  inputLost: { proof: ProofOf<'inputLost'> }
  refundRecorded: Nothing
  refundRefused: Nothing
  refundFinal: { refundReason: RefundReason; refundTxHash: string; credited: boolean }
}

type Fact<Each> = Each extends unknown ? keyof Each : never
type Value<Each, Name> = Each extends unknown ? (Name extends keyof Each ? Each[Name] : never) : never

/** The facts of any event. */
export type AnyFacts = { [Name in Fact<Facts[SwapEvent]>]?: Value<Facts[SwapEvent], Name> }

/** An event with exactly the facts that it needs. */
export type SwapChange<Event extends SwapEvent = SwapEvent> = {
  [Each in Event]: { event: Each } & Facts[Each]
}[Event]
