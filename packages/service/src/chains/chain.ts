import type { AttesterSignature, SlotState } from '@geoswap/protocol'
import type { AttesterSet } from '../swap/attester-set.ts'
import type { LegCosts } from '../swap/catalog.ts'
import type { FailureCode } from '../swap/lifecycle.ts'
import type { Op, SignedInput, Swap } from '../swap/swap.ts'

/**
 * A block as the flow sees it. `height` counts blocks; `number` also counts empty slots, on chains that have them. An
 * adapter may add fields, and receives only its own blocks back.
 */
export type Block = { number: bigint; height: bigint; hash: string; seconds: number }

/**
 * The newest block, the newest final one and, on rollups, the newest that layer 1 holds. `settle` is for reading state
 * at settle depth: its number is of that depth, its other fields are the head's.
 */
export type Heads = { head: Block; settle: Block; hard: Block; safe?: Block }

export type Delegation =
  | { kind: 'none'; nonce: number; pendingNonce: number }
  | { kind: 'older'; delegate: string; nonce: number; pendingNonce: number }
  | { kind: 'ours'; delegate: string }
  | { kind: 'foreign'; delegate: string }
  | { kind: 'contract' }
  /** For a chain on which the wallet signs the transaction itself. */
  | { kind: 'unneeded' }

/** `block` is the newest block that the balance is known to reflect. */
export type WalletView = { delegation: Delegation; balance: bigint; block: bigint }
/** The escrow's slot states, also used for chains without an escrow. */
export type LockState = SlotState

/** A transaction that advanced a swap, and its block. */
export type Landed = { txHash: string; block: bigint }
export type Delivered = Landed & { amount: bigint }
/** `credited`: the token refused the transfer, and the wallet has to withdraw the credit. */
export type Refunded = Landed & { credited: boolean }
/** An op and the transaction recorded as its delivery. */
export type PaidOp = { op: Op; txHash?: string | undefined }

/**
 * An event of our contracts, or shown by an account. `id` is the op's hash; for a delivery the delivery's hash; for a
 * recovery op, token and transaction (`model/deposit.ts`).
 */
export type ChainEvent = {
  kind: 'locked' | 'claimed' | 'refunded' | 'delivered' | 'recovered'
  id: string
  txHash: string
  block: bigint
  blockHash: string
  /** The amount paid by a delivery or a recovery. */
  amount?: bigint
  /** For a refund: its wallet, if it was credited because its transfer was refused. */
  creditedTo?: readonly string[]
}

/** Ops with open transactions, for a chain without logs, on which each op is read separately. */
export type Watched = { locks: readonly Op[]; exits: readonly Op[]; deliveries: readonly Op[] }
export type EventQuery = { from: bigint; heads: Heads; watched(): Promise<Watched> }
/** `isComplete`: the page contains every event from `from` to `to`. */
export type EventPage = { events: ChainEvent[]; to: bigint; isComplete: boolean }

/** A transaction before it is priced and signed. Plain data, so that it can be stored; only its chain interprets it. */
export type TxRequest = Readonly<Record<string, unknown>>
/** The terms of a signature besides the content: fees and, on some chains, a recent block. Plain data as well. */
export type SigningTerms = Readonly<Record<string, unknown>>

/** `lastValid`: the last height at which the chain accepts these bytes, if it has such a limit. */
export type Signed = { txHash: string; raw: string; lastValid?: bigint }

/** A recorded transaction without a final outcome. */
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

/** The fee of a transaction in a block, and the ids of the events that it has there (`ChainEvent`). */
export type TxCost = { fee: bigint; eventIds: readonly string[] }

export type TxOutcomes<T extends Sent> = {
  /** The sender's next nonce: all lower ones are consumed, by any transaction; 0 on a chain without nonces. */
  nextNonce: number
  /** Final: these either landed for good or can never land. */
  final: T[]
  /** Not final, but their nonce is consumed at settle depth: only a reorg can make these land. Empty without nonces. */
  consumed: T[]
  /** In no block yet: broadcast again until the chain decides. */
  unmined: T[]
}

/**
 * `isBurn`: a no-op that consumes the nonce and gives up the work. `cost`: the balance that nodes require of the
 * sender.
 */
export type Replacement = { request: TxRequest; terms: SigningTerms; isBurn: boolean; cost: bigint }

/** The replacements of a transaction that nodes accept at the current terms. */
export type ReplacementOffers = {
  /** Whether a new transaction would now offer a higher fee than this one. */
  isOutbid: boolean
  /** The same effect within the quoted fee bound; undefined if the fee exceeds it, or the request fits in no block. */
  bounded: Replacement | undefined
  /** The same effect at any fee; undefined if the request fits in no block. */
  unbounded: Replacement | undefined
  noop: Replacement
}

/**
 * Why every node refuses a transaction. `underpriced` and `feeBelowBase`: its fee is too low. `gasTooLow`: its gas
 * limit is too low. `unfunded`: its sender's balance is too low. `authority`: a wallet whose delegation it carries
 * has transactions of its own pending.
 */
export type Refusal = 'underpriced' | 'feeBelowBase' | 'gasTooLow' | 'unfunded' | 'authority'

export type Simulation =
  | { kind: 'ok' }
  | { kind: 'recipientRefuses' }
  | { kind: 'noLiquidity' }
  /** The output costs more than its budget. */
  | { kind: 'priceMoved' }
  /** A reason beyond the wallet and the recipient: a revoked key, an op delivered already. */
  | { kind: 'notNow' }

/**
 * `once`: 16 hex digits, for a chain without nonces. Of all transfers of one sender with the same value at most one
 * lands.
 */
export type Transfer = { from: string; to: string; token: string; amount: bigint; once?: string }

/** The operations of every chain, as origin or destination. Errors are thrown, and the caller retries. */
type AnyChain = {
  chainId: number
  /** How many swaps one transaction may carry. */
  maxBatch: number
  /** Whether the chain numbers a sender's transactions; without nonces each can land independently. */
  hasNonces: boolean
  /**
   * Cheap while nothing is new: returns the given heads unchanged. `isIdle`: no swap or transaction is open here, so
   * times may be some seconds older.
   */
  readHeads(known?: Heads, isIdle?: boolean): Promise<Heads>
  /** Reads one page of events, as many as a node returns at once. */
  findEvents(query: EventQuery, faults?: unknown[]): Promise<EventPage>
  /** Whether this block is part of the canonical chain now. Absent where a dropped fork shows by itself. */
  isCanonical?(block: { number: bigint; hash: string }): Promise<boolean>
  readLegCosts(at: Heads): Promise<LegCosts>
  /** The native balance of an address at this block, agreed by a majority of the nodes. */
  readCoins(address: string, at: Block): Promise<bigint>
  /** Transfers the sender's own money, not a vault's. Throws if the transfer would fail now. */
  planTransfer(transfer: Transfer): Promise<TxRequest>
  /** Whether a transaction is in a block, and whether it failed there. */
  findTransaction(txHash: string): Promise<{ block: bigint; failed: boolean } | undefined>
  /** May be a few seconds old, unless nodes refused a transaction signed with such terms. */
  readTerms(at: Heads, isRefused?: boolean): Promise<SigningTerms>
  /**
   * The same terms with a bound on the price per unit of gas, all fees included; undefined if the bound is too low now.
   * Absent where the configuration bounds the fees.
   */
  boundTerms?(terms: SigningTerms, bound: bigint): SigningTerms | undefined
  sign(request: TxRequest, as: { sender: string; nonce?: number; terms: SigningTerms }): Promise<Signed>
  /** Whether a block has room for the request, signed with these terms. Absent where it always has. */
  fits?(request: TxRequest, terms: SigningTerms): boolean
  /**
   * Broadcasts the bytes. Their arrival is never known here: the chain shows it later. Returns the reason if every node
   * refused them for the same one.
   */
  broadcast(raw: string): Promise<Refusal | undefined>
  /**
   * `raw`: the recorded bytes. Undefined if they are in no block. Absent on a chain where no failure costs much.
   */
  readCost?(txHash: string, raw?: string): Promise<TxCost | undefined>
  /** Whether the transaction would succeed now, sent by this key at these terms. Absent where signing checks it. */
  simulate?(request: TxRequest, as: { sender: string; terms: SigningTerms }): Promise<boolean>
  readOutcomes<T extends Sent>(sender: string, sent: readonly T[], at: Heads): Promise<TxOutcomes<T>>
  /** Whether these bytes, signed by the sender, have the effect of the request. Absent where none is signed again. */
  isSignedFor?(request: TxRequest, by: { raw: string; sender: string }): Promise<boolean>
  /** Prices the replacements of an unmined transaction. Absent on a chain that replaces none. */
  offerReplacements?(stuck: Sent, current: SigningTerms): ReplacementOffers
}

export type OriginChain = AnyChain & {
  /** Absent on a chain where the wallet signs the transaction itself. */
  readDelegation?(wallet: string): Promise<Delegation>
  readWallet(input: { wallet: string; token: string }): Promise<WalletView>
  /**
   * The state of each op at a block, by op hash. An op that cannot be read is left out, and its error is added to
   * `faults`; without `faults` it is thrown. The same holds for reading deliveries.
   */
  readLocks(ops: readonly LockRef[], at: Block, faults?: unknown[]): Promise<Map<string, LockState>>
  /** Whether an input not taken up to this block can never be taken, by the chain's own rule. */
  isLockOver(swap: Swap, at: Block): boolean
  /** The reason why taking the input would fail now; undefined if there is none. */
  findObstacle(swap: Swap): Promise<FailureCode | undefined>
  /** How much of a token can be claimed per hour of the chain's clock. Some seconds old. Absent without caps. */
  readClaimCap?(token: string): Promise<ClaimCap | undefined>
  /**
   * Whether the wallet signed this op: by the stored signature or, if that was lost with the database, by the input
   * that the chain took for the op.
   */
  isSigned(swap: Swap): Promise<boolean>
  /** Whether the wallet can be refunded now. Absent where a payment that a token refuses is credited. */
  canRefund?(swap: Swap): Promise<boolean>
  planLock(swaps: readonly Swap[]): Promise<TxRequest>
  /** The attesters who decide an op: its refund deadline alone chooses them. Some seconds old. */
  readAttesters(refundDeadline: number): Promise<AttesterSet>
  /**
   * `signatures`: of as many attesters as their threshold. Undefined if they can no longer be used, like those of a
   * refund: the attesters sign again.
   */
  planClaim(swaps: readonly Swap[], signatures: readonly AttesterSignature[]): Promise<TxRequest | undefined>
  /** How many claims fit into one transaction now, with a reserve. Absent where it is one. */
  readMaxClaims?(at: Heads): Promise<number>
  /** How much of a token can be refunded by attestation now. Some seconds old. Absent without a limit. */
  readRefundRoom?(token: string): Promise<bigint | undefined>
  /** Whether anyone may refund the input at this block, without attesters and limits. */
  isRefundPublic(op: Op, at: Block): boolean
  /** Without signatures: a refund that is public. */
  planRefund(swap: Swap, attested: AttestedRefund | undefined): Promise<TxRequest | undefined>
  /** Absent on a chain where the wallet signs the transaction that takes its input. */
  ways?: OriginWays
}

/** The ways in which an input comes in without a delegation. */
export type DepositTransfer = { id: string; from: string; amount: bigint }

/** `isWhole`: the look reached back to the block that was asked for, or to the quote. */
export type DepositTransfers = { transfers: readonly DepositTransfer[]; isWhole: boolean }

export type OriginWays = {
  /** Whether this signature lets the chain take this input now. */
  isInputSigned(input: SignedInput, signature: string): Promise<boolean>
  /** The number that the wallet's next permit for a token must have. */
  readPermitNonce(token: string, wallet: string): Promise<bigint>
  /**
   * The balances of these tokens at the addresses of these ops at a block, by op hash. A token that does not tell is
   * left out, and so is an op of which none tells.
   */
  readDeposits(ops: readonly Op[], tokens: readonly string[], at: Block): Promise<Map<string, Held[]>>
  /**
   * The last transaction that sent the input to the op's address; undefined if the chain does not tell. `since`: the
   * block at which the address was last looked at, if known.
   */
  findDepositTx(op: Op, looked: { since: bigint | undefined; at: Block }): Promise<string | undefined>
  /**
   * The transfers of the input to the op's address that the chain tells: of a token all, of native coin those of
   * transactions in the blocks since the last look, and at most in the last ones. Ids are unique.
   */
  findDepositTransfers(op: Op, looked: { since: bigint | undefined; at: Block }): Promise<DepositTransfers>
  /** The transfers of a token to the op's address before its lock: of this transaction alone, if they suffice. */
  findTakenTransfers(op: Op, lock: string): Promise<readonly DepositTransfer[]>
  /** Sends what lies of a token at the op's address to its wallet. */
  planRecover(op: Op, token: string): Promise<TxRequest>
  /** Whether this would send something back, if the sender sent it now at the price that it pays. */
  wouldRecover(request: TxRequest, sender: string, at: Heads): Promise<boolean>
}

export type Held = { token: string; amount: bigint }

export type AttestedRefund = { signatures: readonly AttesterSignature[]; validUntil: number }

/** `left` and `claimed` are for the hour of the reading. */
export type ClaimCap = { perHour: bigint; left: bigint; claimed: bigint }

export type LockRef = Pick<
  Op,
  'hash' | 'locker' | 'position' | 'wallet' | 'inputToken' | 'inputAmount' | 'refundDeadline'
>

/**
 * Whether a recipient can be paid, the cost of creating its account in the native coin, and the least amount that the
 * chain accepts there.
 */
export type RecipientView =
  | { kind: 'payable'; rent: bigint; leastOutput: bigint }
  | { kind: 'refused'; why: string }

/** A key, and the terms on which it sends now. */
export type Sending = { sender: string; terms: SigningTerms }

export type DestinationChain = AnyChain & {
  /** Before an op is locked, by any deliverer; then as its key would send it. */
  simulateDelivery(op: Op, as?: Sending): Promise<Simulation>
  /** The deliveries of paid ops, by op hash, found without the stored events. */
  findDeliveries(paid: readonly PaidOp[], at: Heads, faults?: unknown[]): Promise<Map<string, Delivered>>
  /** The ops that the chain shows as undelivered at a block, by op hash. */
  readUndelivered(ops: readonly Op[], at: Block, faults?: unknown[]): Promise<Set<string>>
  /** Whether an op undelivered at this block can never be delivered, by the chain's own rule. */
  isDeliveryOver(op: Op, at: Block): boolean
  planDelivery(ops: readonly Op[]): Promise<TxRequest>
  readHoldings(at: Block): Promise<{ token: string; amount: bigint }[]>
}

export type Chain = OriginChain & DestinationChain

/** A wallet's funds. `minimum` must stay behind unless the whole balance is spent. */
export type Payer = Pick<WalletView, 'balance' | 'block'> & { minimum: bigint; isFrozen: boolean }

type BuiltInput = {
  unsignedTransaction: string
  messageHash: string
  lastValid: bigint
  /** The expected time for which the chain accepts it. */
  lifeMs: number
  /** The decoded terms, for the wallet's owner to read. */
  operation: Record<string, unknown>
}

type CheckedInput =
  | { kind: 'ok'; signedTransaction: string }
  | { kind: 'mismatch' }
  | { kind: 'badSignature' }

export type InputRequest = {
  opHash: string
  wallet: string
  token: string
  amount: bigint
  locker: string
  refundDeadline: number
  /** The transaction may expire with these heads. Without them, a node is asked for newer ones. */
  heads?: Heads
}

/** The terms by which a payer of x402 makes the transaction itself. `payTo` owns the account of this input alone. */
export type PaymentOffer = Record<'payTo' | 'feePayer' | 'memo', string> &
  Record<'recentBlockhash' | 'lastValidBlockHeight', string> & { operation: Record<string, unknown> }

/** A payer's transaction, which its wallet signed. `isOver`: nodes no longer know its blockhash. */
export type PaidInput = Pick<Op, 'wallet' | 'locker' | 'inputToken' | 'inputAmount' | 'refundDeadline'> & {
  opHash: string
  signedTransaction: string
  lastValid: bigint
  isOver: boolean
}

/** Builds inputs that the wallet signs as a transaction, and checks the signed ones. */
export type InputBuilder = {
  readPayer(input: { wallet: string; token: string }): Promise<Payer>
  build(input: InputRequest): Promise<BuiltInput>
  check(signed: { messageHash: string; wallet: string; signedTransaction: string }): Promise<CheckedInput>
  offer(input: InputRequest): Promise<PaymentOffer>
  /** Undefined for anything but a payment of an input. */
  readPaid(transaction: string): Promise<PaidInput | undefined>
}
