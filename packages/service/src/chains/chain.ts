import type { SlotState } from '@geoswap/protocol'
import type { LegCosts } from '../model/catalog.ts'
import type { FailureCode } from '../model/outcome.ts'
import type { Op, Swap } from '../model/swap.ts'

/**
 * A block as the flow sees it. `height` counts blocks; `number` also counts what was left empty, where a chain
 * does. An adapter adds what it needs, and is only ever given its own blocks back.
 */
export type Block = { number: bigint; height: bigint; hash: string; seconds: number }

/**
 * The newest block, the newest final one, and the newest that its layer 1 holds, where the chain has such. `settle` is
 * to read state at the settle depth: its number is of that depth, the rest is of the head.
 */
export type Heads = { head: Block; settle: Block; hard: Block; safe?: Block }

export type Delegation =
  | { kind: 'none'; nonce: number; pendingNonce: number }
  | { kind: 'older'; delegate: string; nonce: number; pendingNonce: number }
  | { kind: 'ours'; delegate: string }
  | { kind: 'foreign'; delegate: string }
  | { kind: 'contract' }
  /** A chain on which a wallet signs the transaction itself. */
  | { kind: 'unneeded' }

/** `block` is the newest block that the balance is known to reflect. */
export type WalletView = { delegation: Delegation; balance: bigint; block: bigint }
/** In the escrow's words, also where there is none. */
export type LockState = SlotState

/** A transaction that moved a swap on, and where it is. */
export type Landed = { txHash: string; block: bigint }
export type Delivered = Landed & { amount: bigint }
/** `credited`: the token refused the push, and the wallet withdraws itself. */
export type Refunded = Landed & { credited: boolean }
/** An op and the transaction that is recorded as its delivery. */
export type PaidOp = { op: Op; txHash?: string | undefined }

/** What our contracts emitted, or a marker shows. `id` is an op's hash; of a delivery, the delivery's. */
export type ChainEvent = {
  kind: 'locked' | 'claimed' | 'refunded' | 'delivered'
  id: string
  txHash: string
  block: bigint
  blockHash: string
  /** Of a delivery: what was paid. */
  amount?: bigint
  /** Of a refund: the wallets whose push was refused in the same transaction, and who were credited instead. */
  creditedTo?: readonly string[]
}

/** Ops with something in flight, for a chain that has no log to read: each is asked about by itself. */
export type Watched = { locks: readonly Op[]; exits: readonly Op[]; deliveries: readonly Op[] }
export type EventQuery = { from: bigint; heads: Heads; watched(): Promise<Watched> }
/** `isComplete`: every event from `from` to `to` is among them. */
export type EventPage = { events: ChainEvent[]; to: bigint; isComplete: boolean }

/** A transaction before it is priced and signed. Plain data, so that it can be stored; its chain alone reads it. */
export type TxRequest = Readonly<Record<string, unknown>>
/** What a signature needs besides the content: fees, on some chains a recent block. Plain data as well. */
export type SigningTerms = Readonly<Record<string, unknown>>

/** `lastValid`: the height after which the chain takes these bytes no more, where it has such a rule. */
export type Signed = { txHash: string; raw: string; lastValid?: bigint }

/** A recorded transaction whose fate is open. */
export type Sent = {
  id: string
  txHash: string
  nonce: number
  replacement: number
  request: TxRequest
  terms: SigningTerms
  sentAtBlock: bigint
  /** By the chain's clock. */
  sentAtSeconds: number
  isBurn: boolean
  lastValid?: bigint
}

export type TxOutcomes<T extends Sent> = {
  /** Nonces below this one are taken, whoever took them; 0 on a chain without nonces. */
  nextNonce: number
  /** Neither can these land any more, nor can their having landed be undone. */
  final: T[]
  /** Not final, with a nonce that is taken at settle depth: only a reorg can make these land. None without nonces. */
  consumed: T[]
  /** In no block yet: offered again until the chain decides. */
  unmined: T[]
}

/**
 * `isBurn`: the work is given up, and an empty transaction takes its nonce. `cost`: what its sender has to hold for a
 * node to take it.
 */
export type Replacement = { request: TxRequest; terms: SigningTerms; isBurn: boolean; cost: bigint }

/**
 * Why every node refuses a transaction. `underpriced` and `feeBelowBase`: it has to pay more. `gasTooLow`: its gas
 * limit has to be higher. `unfunded`: its sender holds too little. `authority`: a wallet whose authorization it carries
 * has transactions of its own in flight.
 */
export type Refusal = 'underpriced' | 'feeBelowBase' | 'gasTooLow' | 'unfunded' | 'authority'

/** What a transaction that is stuck may cost: whatever it takes, what its terms allow, or nothing any more. */
export type ReplacementPolicy = 'anyFee' | 'quotedFee' | 'cancel'

/** `isRefused`: no node has it, so there is nothing to wait for. */
export type ReplacementOptions = { policy?: ReplacementPolicy; isRefused?: boolean }

export type Simulation =
  | { kind: 'ok' }
  | { kind: 'recipientRefuses' }
  | { kind: 'noLiquidity' }
  /** What is to be bought costs more than was set aside for it. */
  | { kind: 'priceMoved' }
  /** Something that is not the wallet's or the recipient's doing: a revoked key, an op delivered already. */
  | { kind: 'notNow' }

/**
 * `once` is for a chain without nonces: of all transfers of one sender with the same value at most one lands.
 * 16 hex digits.
 */
export type Transfer = { from: string; to: string; token: string; amount: bigint; once?: string }

/** What every chain offers, whichever side of a swap it is on. A fault is thrown: the caller tries again. */
type AnyChain = {
  chainId: number
  /** How many swaps one transaction may carry. */
  maxBatch: number
  /** Whether the chain numbers a sender's transactions; where not, each stands for itself and may land alone. */
  hasNonces: boolean
  /** Cheap while nothing is new: then the heads given come back as they are. */
  readHeads(known?: Heads): Promise<Heads>
  /** One page of events, as far as a node answers at once. */
  findEvents(query: EventQuery, faults?: unknown[]): Promise<EventPage>
  /** Whether this block is part of the chain now. */
  isCanonical(block: { number: bigint; hash: string }): Promise<boolean>
  readLegCosts(at: Heads): Promise<LegCosts>
  /** What an address holds of the chain's own coin at this block, as a majority of the nodes says. */
  readCoins(address: string, at: Block): Promise<bigint>
  /** Moves money of the sender's own, not a vault's. Fails where it would fail now. */
  planTransfer(transfer: Transfer): Promise<TxRequest>
  /** Whether a transaction is in a block, and whether it did anything there. */
  findTransaction(txHash: string): Promise<{ block: bigint; failed: boolean } | undefined>
  /** May be a few seconds old, unless nodes refused what was signed with such. */
  readTerms(at: Heads, isRefused?: boolean): Promise<SigningTerms>
  /**
   * The same terms for what may cost at most this much per unit of gas, all fees together; undefined while that is not
   * enough.
   */
  boundTerms(terms: SigningTerms, bound: bigint): SigningTerms | undefined
  sign(request: TxRequest, as: { sender: string; nonce?: number; terms: SigningTerms }): Promise<Signed>
  /** Whether a block has room for it, signed with these terms. */
  fits(request: TxRequest, terms: SigningTerms): boolean
  /**
   * Hands the bytes to the nodes. Whether they arrived is never known here: the chain shows it later. Says why when
   * every node refused them for the same reason.
   */
  broadcast(raw: string): Promise<Refusal | undefined>
  readOutcomes<T extends Sent>(sender: string, sent: readonly T[], at: Heads): Promise<TxOutcomes<T>>
  /** Whether these bytes, which the sender signed, do what the request says. */
  isSignedFor(request: TxRequest, by: { raw: string; sender: string }): Promise<boolean>
  /** What takes the place of a transaction that no block includes; undefined while, or where, nothing should. */
  planReplacement(
    stuck: Sent,
    at: Heads,
    current: SigningTerms,
    plight?: ReplacementOptions,
  ): Replacement | undefined
}

export type OriginChain = AnyChain & {
  readDelegation(wallet: string): Promise<Delegation>
  readWallet(input: { wallet: string; token: string }): Promise<WalletView>
  /**
   * The state of each op at a block, by op hash. Here and where deliveries are read: an op that cannot be read while
   * others can is left out of the answer, and why is left in `faults`; without those it is thrown.
   */
  readLocks(ops: readonly LockRef[], at: Block, faults?: unknown[]): Promise<Map<string, LockState>>
  /** Whether an input that no block up to this one took can never be taken, by the chain's own rule. */
  isLockOver(swap: Swap, at: Block): boolean
  /** Why taking the input would fail now; undefined when it would not. */
  findObstacle(swap: Swap): Promise<FailureCode | undefined>
  /**
   * How much of a token can be claimed in an hour of the chain's clock; undefined where nothing bounds it. Some
   * seconds old.
   */
  readClaimCap(token: string): Promise<ClaimCap | undefined>
  /**
   * Whether the wallet signed this op: by the stored signature or, where that was lost with the database, by the input
   * that the chain took in the op's name.
   */
  isSigned(swap: Swap): Promise<boolean>
  /** Whether the wallet can be paid back now, or credited. */
  canRefund(swap: Swap): Promise<boolean>
  planLock(swaps: readonly Swap[]): Promise<TxRequest>
  planClaim(swaps: readonly Swap[], signature: string): Promise<TxRequest>
  /** How many claims one transaction has room for now, with a reserve. */
  readMaxClaims(at: Heads): Promise<number>
  planRefund(swap: Swap, attested: { signature: string; validUntil: number }): Promise<TxRequest>
}

/** `left` and `claimed` are of the hour in which it was read. */
export type ClaimCap = { perHour: bigint; left: bigint; claimed: bigint }

export type LockRef = { hash: string; locker: string; position: bigint }

export type DestinationChain = AnyChain & {
  simulateDelivery(op: Op, deliverer?: string): Promise<Simulation>
  /** Those of the ops that were paid, by op hash, without the help of the database's events. */
  findDeliveries(paid: readonly PaidOp[], at: Heads, faults?: unknown[]): Promise<Map<string, Delivered>>
  /** The ops that the chain shows as not delivered at a block, by op hash. */
  readUndelivered(ops: readonly Op[], at: Block, faults?: unknown[]): Promise<Set<string>>
  /** Whether what is not delivered at this block can never be, by the chain's own rule. */
  isDeliveryOver(op: Op, at: Block): boolean
  planDelivery(ops: readonly Op[]): Promise<TxRequest>
  readHoldings(at: Block): Promise<{ token: string; amount: bigint }[]>
}

export type Chain = OriginChain & DestinationChain

/** What a wallet can pay from. `minimum` must stay behind unless all of it goes. */
export type Payer = Pick<WalletView, 'balance' | 'block'> & { minimum: bigint; isFrozen: boolean }

export type BuiltInput = {
  unsignedTransaction: string
  messageHash: string
  lastValid: bigint
  /** How long its chain is going to take it, as far as one can say. */
  lifeMs: number
  /** The decoded terms, for the wallet's owner to read. */
  operation: Record<string, unknown>
}

export type CheckedInput =
  | { kind: 'ok'; signedTransaction: string }
  | { kind: 'mismatch' }
  | { kind: 'badSignature' }

/** Where the wallet signs the transaction itself: what builds it, and checks what comes back. */
export type InputBuilder = {
  readPayer(input: { wallet: string; token: string }): Promise<Payer>
  build(input: { opHash: string; wallet: string; token: string; amount: bigint }): Promise<BuiltInput>
  check(signed: { messageHash: string; wallet: string; signedTransaction: string }): Promise<CheckedInput>
}
