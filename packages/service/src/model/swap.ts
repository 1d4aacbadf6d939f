import type { SwapState } from './lifecycle.ts'
import type { RefundReason } from './outcome.ts'

/** A signed EIP-7702 authorization as the caller sent it. */
export type SignedDelegation = {
  chainId: number
  address: string
  nonce: number
  yParity: number
  r: string
  s: string
}

/** The signed operation of a swap in the words of the database: enough to lock, deliver, claim or refund it. */
export type Op = {
  id: string
  hash: string
  deliveryHash: string
  originChain: number
  destinationChain: number
  wallet: string
  inputToken: string
  inputAmount: bigint
  outputToken: string
  quotedOutput: bigint
  minOutput: bigint
  swappable: bigint
  /** Who delivers, and what leaves the vault for it at most. */
  venue: string
  payToken: string
  payAmount: bigint
  priceFloor: bigint
  recipient: string
  /** The quote charged for an account that the recipient has to be given first. */
  createsAccount: boolean
  locker: string
  position: bigint
  round: bigint
  opDeadline: number
  fillDeadline: number
  refundDeadline: number
  valueCents: bigint
  /** The most that a unit of gas may cost when the input is taken and when the output is paid; 0 for no bound. */
  lockFeeBound: bigint
  deliveryFeeBound: bigint
  /** Where the wallet was seen to hold the input. A node that is behind it cannot say that it does not. */
  walletBlock: bigint
  originBlock: bigint
  destinationBlock: bigint
  /** Only the input is known, found on its chain: it can be given back, and nothing else. */
  isOrphan?: boolean
  /** The log may lack what was signed for it: only what a chain itself rules out has not happened. */
  isLogLost?: boolean
}

export type Swap = {
  id: string
  state: SwapState
  version: number
  op: Op
  /** The wallet's signature, or the whole transaction that it signed. */
  signature: string
  /** Of a signed transaction: the height after which its chain takes it no more. */
  lastValid?: bigint
  delegation?: SignedDelegation
  originTxHash?: string
  deliveryTxHash?: string
  originFinal: boolean
  /** Its lock is in a block that counts as safe, where the operator has exposure end there. */
  originSafe: boolean
  deliveryFinal: boolean
  exposedCents: bigint
  /** What it counts for in what is delivered and not claimed; 0 before a delivery is signed. */
  unclaimedCents: bigint
  /** Its claim is booked against the cap of its token. */
  isClaimBooked: boolean
  refundReason?: RefundReason
  /** Its stored terms were last seen to differ from what its wallet signed. */
  isUnsigned?: boolean
}
