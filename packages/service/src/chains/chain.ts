import type { Op, SignedDelegation, Swap } from '../model/swap.ts'

/** A block as the flow sees it: where it is, and what time the contracts saw in it. */
export type Block = { number: bigint; hash: string; seconds: number; baseFeeWei: bigint }

/** The newest block and the ones at the chain's configured depths. */
export type Heads = { head: Block; accept: Block; settle: Block; hard: Block }

export type Delegation =
  | { kind: 'none'; nonce: number; pendingNonce: number }
  | { kind: 'older'; delegate: string; nonce: number; pendingNonce: number }
  | { kind: 'ours'; delegate: string }
  | { kind: 'foreign'; delegate: string }
  | { kind: 'contract' }

/** `block` is the newest block that the balance is known to reflect. */
export type WalletView = { delegation: Delegation; balance: bigint; block: bigint }
export type LockState = 'none' | 'locked' | 'claimed' | 'refunded'

/** What a chain's contracts said, and in which transaction. `id` is an op's hash or a delivery's. */
export type ChainEvent = {
  kind: 'locked' | 'claimed' | 'refunded' | 'delivered'
  id: string
  txHash: string
  block: bigint
  /** Of a delivery: what was paid. */
  amount?: bigint
  /** Of a refund: the wallets whose push was refused in the same transaction, and who were credited instead. */
  creditedTo?: readonly string[]
}

/** A transaction before it has a nonce, a price and a signature; plain data, so that it can be stored. */
export type TxRequest = {
  to: string
  data: string
  gas: number
  authorizations?: SignedDelegation[]
}

export type Fees = { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint }
export type Signed = { txHash: string; raw: string }
export type Simulation =
  | { kind: 'ok' }
  | { kind: 'recipientRefuses' }
  | { kind: 'noLiquidity' }
  /** Something that is not the wallet's or the recipient's doing: a revoked key, an op delivered already. */
  | { kind: 'notNow' }

/** What every chain offers, whichever side of a swap it is on. A fault is thrown: the caller tries again. */
type AnyChain = {
  chainId: number
  /** Cheap while nothing is new: then the heads given come back as they are. */
  readHeads(known?: Heads): Promise<Heads>
  readEvents(range: { from: bigint; to: bigint }): Promise<ChainEvent[]>
  readNonces(sender: string, at: Heads): Promise<{ latest: number; hard: number }>
  readFees(at: Heads): Promise<Fees>
  sign(request: TxRequest, as: { sender: string; nonce: number; fees: Fees }): Promise<Signed>
  /** Hands the bytes to the nodes. Whether they arrived is never known here: the chain shows it later. */
  broadcast(raw: string): Promise<void>
}

export type OriginChain = AnyChain & {
  readDelegation(wallet: string): Promise<Delegation>
  readWallet(input: { wallet: string; token: string }): Promise<WalletView>
  /** The state of each op at a block, by op hash. */
  readLocks(ops: readonly LockRef[], at: Block): Promise<Map<string, LockState>>
  planLock(swaps: readonly Swap[]): TxRequest
  planClaim(swaps: readonly Swap[], signature: string): TxRequest
  planRefund(swap: Swap, attested: { signature: string; validUntil: number }): TxRequest
}

export type LockRef = { hash: string; locker: string; position: bigint }

export type DestinationChain = AnyChain & {
  simulateDelivery(op: Op, deliverer?: string): Promise<Simulation>
  /** The ops that the vault shows as not delivered at a block, by op hash. */
  readUndelivered(ops: readonly Op[], at: Block): Promise<Set<string>>
  planDelivery(ops: readonly Op[]): TxRequest
  readHoldings(at: Block): Promise<{ token: string; amount: bigint }[]>
}

export type Chain = OriginChain & DestinationChain
