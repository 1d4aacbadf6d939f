import type { WayName } from '../swap/swap.ts'
import type { Block, Delivered } from './chain.ts'

/** The terms of an op in the transaction that took its input. Of the delivery it contains only the hash. */
export type LockTerms = {
  wallet: string
  inputToken: string
  inputAmount: bigint
  locker: string
  deliveryHash: string
  /** The block's time by the chain's own clock. */
  seconds: number
  /** Of a signed transfer: the deadline after which anyone may refund it. */
  refundDeadline?: number
  /** Further signed terms, if the wallet signed an op and not a transfer. */
  signed?: { position: bigint; round: bigint; opDeadline: number; refundDeadline: number }
  method: WayName
  /** The op's own address, on a chain where one can be paid. */
  depositAddress?: string
}

/** The terms of a delivery in its transaction. */
export type DeliveryTerms = {
  outputToken: string
  recipient: string
  /** For a bought output: the most that left the vault for it, and the contract that it was bought through. */
  bought?: { payToken: string; payAmount: bigint; adapter: string }
  /** The other fields of the delivery's hash, if the transaction contains them. */
  rest?: { ring: string; position: bigint; round: bigint; minOutput: bigint; fillDeadline: number }
}

/** Recovers facts from a chain alone, when the database does not have them. */
export type RecoveryChain = {
  chainId: number
  findLockTerms(txHash: string, op: string): Promise<LockTerms | undefined>
  findDeliveryTerms(txHash: string, delivery: string): Promise<DeliveryTerms | undefined>
  /** Finds a delivery at a block; none was made before the chain time `since`. */
  findDelivery(deliveryHash: string, since: number, at: Block): Promise<Delivered | undefined>
  /** The sender's next nonce on the chain. Absent on a chain without nonces. */
  readNextNonce?(sender: string): Promise<number>
  /** On a chain without nonces. */
  named?: {
    /** The newest transactions that mention a sender and name an op. */
    read(sender: string): Promise<{ txHash: string; block: bigint }[]>
    /** Whether the sender paid for the transaction, which requires its signature. */
    isPaidBy(txHash: string, sender: string): Promise<boolean>
  }
  /** The height after which nothing signed by now can land. Absent where the signed deadline ends a delivery. */
  expiryOf?(at: Block): bigint | undefined
}
