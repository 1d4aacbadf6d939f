import type { Block, Delivered } from './chain.ts'

/** What a transaction that took an input says about its op. Of the delivery it names only the hash. */
export type LockTerms = {
  wallet: string
  inputToken: string
  inputAmount: bigint
  locker: string
  deliveryHash: string
  /** When its block was made, by the chain's own clock. */
  seconds: number
  /** What the wallet signed besides, where it signs an op and not a transfer. */
  signed?: { position: bigint; round: bigint; opDeadline: number; refundDeadline: number }
}

/** What a transaction that delivered says about the delivery. */
export type DeliveryTerms = {
  outputToken: string
  recipient: string
  /** Where the output was bought: what left the vault for it at most. */
  bought?: { payToken: string; payAmount: bigint }
  /** What else the delivery's hash is made of, where the transaction carries it. */
  rest?: { ring: string; position: bigint; round: bigint; minOutput: bigint; fillDeadline: number }
}

/** What can be found out from a chain alone, when the database does not know it. */
export type RecoveryChain = {
  chainId: number
  findLockTerms(txHash: string, op: string): Promise<LockTerms | undefined>
  findDeliveryTerms(txHash: string, delivery: string): Promise<DeliveryTerms | undefined>
  /** A delivery that was made, at a block; none was made before this time of the chain. */
  findDelivery(deliveryHash: string, since: number, at: Block): Promise<Delivered | undefined>
  /** The first nonce that the chain has not seen of a sender; undefined on a chain without nonces. */
  readNextNonce(sender: string): Promise<number | undefined>
  /** The newest transactions with an op's name that mention a sender, where there are no nonces to tell. */
  readNamed(sender: string): Promise<{ txHash: string; block: bigint }[]>
  /** Whether the sender paid for it, which nobody else can make it do. */
  isPaidBy(txHash: string, sender: string): Promise<boolean>
  /**
   * Height after which nothing that is signed by now can land; undefined on a chain where a delivery ends by the
   * deadline that the wallet signed.
   */
  expiryOf(at: Block): bigint | undefined
}
