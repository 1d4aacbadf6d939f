import type { DepositFacts } from './deposit.ts'
import type { FailureCode, ProofOf, RefundReason, SwapEvent } from './lifecycle.ts'

type Nothing = Record<never, never>

/** The facts that a swap records with each event. */
type Facts = {
  depositSeen: { deposit: DepositFacts }
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
