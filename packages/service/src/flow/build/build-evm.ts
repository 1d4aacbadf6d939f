import { randomUUID } from 'node:crypto'
import {
  type Delivery,
  type GeoOp,
  geoOpDomain,
  geoOpTypes,
  hashDelivery,
  hashGeoOp,
  ringOf,
  toBytes32,
  toIndex,
} from '@geoswap/protocol'
import type { BuildGeoOpReply, BuildRequest } from '@geoswap/wire'
import type { Pool } from 'pg'
import type { OriginChain, WalletView } from '../../chains/chain.ts'
import { ServiceError } from '../../errors.ts'
import type { Catalog, ChainNow, Market } from '../../model/catalog.ts'
import { type DeadlinePolicy, type Deadlines, deadlinesFrom } from '../../model/deadlines.ts'
import type { Quote } from '../../model/quote.ts'
import type { SignedDelegation } from '../../model/swap.ts'
import { type Db, inTransaction } from '../../store/db.ts'
import {
  countOpenByLocker,
  countUnsubmitted,
  findOpByQuote,
  insertOp,
  type StoredOp,
  takePosition,
} from '../../store/ops.ts'
import { findSubmission } from '../../store/submissions.ts'
import { authorizationFor } from './authorization.ts'
import { readOrUnavailable } from './read-chain.ts'

type Hex = `0x${string}`
type EvmContracts = { escrow: Hex; vault: Hex; account: Hex }

export type BuildDeps = {
  pool: Pool
  catalog: Catalog
  market: Market
  originOf(chainId: number): OriginChain
  contractsOf(chainId: number): EvmContracts
  lockers: readonly Hex[]
  isSignedBy(wallet: string, signed: SignedDelegation): Promise<boolean>
  openQuote(accountId: string, token: string): Quote
  sealOp(accountId: string, op: SealedOp): string
  rememberDelegated(chainId: number, wallet: string): void
  deadlines: DeadlinePolicy
  maxUnsubmitted: number
  now(): number
}

/** What a sealed op token carries: enough to submit without asking the caller for anything else. */
export type SealedOp = { opId: string; quoteId: string; delegation?: SignedDelegation }

/** Turns a live quote into the hash the wallet signs. The first build stores the op, a second returns it. */
export async function buildGeoOp(
  deps: BuildDeps,
  accountId: string,
  request: BuildRequest,
): Promise<BuildGeoOpReply> {
  const quote = deps.openQuote(accountId, request.geoQuoteToken)
  const origin = deps.catalog.chains.get(quote.originChain)
  if (origin?.family !== 'evm') throw new ServiceError('INVALID_TOKEN')
  if (quote.expiresAt <= deps.now()) throw new ServiceError('QUOTE_EXPIRED')

  const reading = deps
    .originOf(quote.originChain)
    .readWallet({ wallet: quote.wallet, token: quote.inputToken })
  const wallet = await readOrUnavailable(origin, reading)
  const check = {
    wallet: quote.wallet,
    chainId: quote.originChain,
    delegationTarget: deps.contractsOf(quote.originChain).account,
    isSignedBy: deps.isSignedBy,
  }
  const delegation = await authorizationFor(check, wallet.delegation, request.authorization)
  if (!delegation) deps.rememberDelegated(quote.originChain, quote.wallet)
  if (wallet.balance < quote.amountIn && !(await hasSwap(deps.pool, quote)))
    throw insufficientBalance(quote, wallet.balance)

  const op = await storeOnce(deps, accountId, quote, wallet)
  const sealed = { opId: op.id, quoteId: quote.id, ...(delegation && { delegation }) }
  return {
    geoOpHash: op.hash,
    geoOpToken: deps.sealOp(accountId, sealed),
    expiresAt: op.expiresAt.toISOString(),
    operation: {
      domain: geoOpDomain({ chainId: quote.originChain, ...deps.contractsOf(quote.originChain) }),
      types: typesWithDomain,
      primaryType: 'GeoOp',
      message: op.terms as Record<string, unknown>,
    },
  }
}

// Wallets that follow EIP-712's JSON form read the domain's fields from here.
const typesWithDomain = {
  EIP712Domain: [
    { name: 'name', type: 'string' },
    { name: 'version', type: 'string' },
    { name: 'chainId', type: 'uint256' },
    { name: 'verifyingContract', type: 'address' },
  ],
  GeoOp: [...geoOpTypes.GeoOp],
  Delivery: [...geoOpTypes.Delivery],
}

/** Whether this quote was submitted: then its own swap may be what took the balance. */
async function hasSwap(pool: Pool, quote: Quote): Promise<boolean> {
  const op = await findOpByQuote(pool, quote.id)
  return op !== undefined && (await findSubmission(pool, op.id))?.existing !== undefined
}

function insufficientBalance(quote: Quote, balance: bigint): ServiceError {
  const details = { required: quote.amountIn.toString(), balance: balance.toString() }
  return new ServiceError('INSUFFICIENT_BALANCE', {
    message: `The wallet holds ${balance} of the input token and the swap takes ${quote.amountIn}.`,
    details,
    recovery: { token: quote.inputToken, chainId: quote.originChain, ...details },
  })
}

/** Two builds of one quote at once meet at the unique quote id: the second reads what the first stored. */
async function storeOnce(
  deps: BuildDeps,
  accountId: string,
  quote: Quote,
  wallet: WalletView,
): Promise<StoredOp> {
  const existing = await findOpByQuote(deps.pool, quote.id)
  if (existing) return existing
  const clocks = getClocks(deps, quote)
  return inTransaction(deps.pool, async (db) => {
    await db.query('select pg_advisory_xact_lock(hashtextextended($1, 1))', [accountId])
    const meanwhile = await findOpByQuote(db, quote.id)
    if (meanwhile) return meanwhile
    await assertRoomToBuild(deps, db, accountId)
    return storeOp(deps, db, { accountId, quote, wallet, clocks })
  })
}

async function assertRoomToBuild(deps: BuildDeps, db: Db, accountId: string): Promise<void> {
  if ((await countUnsubmitted(db, accountId)) < deps.maxUnsubmitted) return
  throw new ServiceError('RATE_LIMITED', {
    message: `At most ${deps.maxUnsubmitted} built operations may wait for submission. Submit some or wait.`,
    recovery: { retryAfterMs: 5_000 },
  })
}

type OpClocks = { origin: ChainNow; destination: ChainNow; deadlines: Deadlines }

function getClocks(deps: BuildDeps, quote: Quote): OpClocks {
  const origin = getNow(deps, quote.originChain)
  const destination = getNow(deps, quote.destinationChain)
  const clocks = { originSeconds: origin.seconds, destinationSeconds: destination.seconds }
  const finality = {
    originSeconds: deps.catalog.chains.get(quote.originChain)?.hardSeconds ?? 0,
    destinationSeconds: deps.catalog.chains.get(quote.destinationChain)?.hardSeconds ?? 0,
  }
  return { origin, destination, deadlines: deadlinesFrom(deps.deadlines, clocks, finality) }
}

function getNow(deps: BuildDeps, chainId: number): ChainNow {
  const now = deps.market.chainNow(chainId)
  if (!now)
    throw new ServiceError('CHAIN_UNAVAILABLE', { details: { chainId }, recovery: { retryAfterMs: 5_000 } })
  return now
}

type Draft = { accountId: string; quote: Quote; wallet: WalletView; clocks: OpClocks }

async function storeOp(
  deps: BuildDeps,
  db: Db,
  { accountId, quote, wallet, clocks }: Draft,
): Promise<StoredOp> {
  const id = randomUUID()
  const locker = await leastBusyLocker(deps, db, quote.originChain)
  const slot = await takePosition(db, { chainId: quote.originChain, locker, opId: id })
  const geoOp = toGeoOp(deps, quote, { locker, index: toIndex(slot), ...clocks.deadlines })
  const origin = { chainId: quote.originChain, ...deps.contractsOf(quote.originChain) }
  return insertOp(db, {
    ...quote,
    id,
    quoteId: quote.id,
    accountId,
    hash: hashGeoOp(origin, geoOp),
    deliveryHash: hashDelivery(geoOp.delivery),
    terms: geoOp,
    inputAmount: quote.amountIn,
    quotedOutput: quote.amountOut,
    locker,
    ...slot,
    ...clocks.deadlines,
    walletBalance: wallet.balance,
    walletBlock: wallet.block,
    originBlock: clocks.origin.block,
    destinationBlock: clocks.destination.block,
    lifeSeconds: deps.deadlines.opLifeSeconds,
  })
}

async function leastBusyLocker(deps: BuildDeps, db: Db, chainId: number): Promise<Hex> {
  const open = await countOpenByLocker(db, chainId)
  const [first, ...others] = deps.lockers
  if (!first) throw new Error('No relayer is configured')
  return others.reduce((best, next) => ((open.get(next) ?? 0) < (open.get(best) ?? 0) ? next : best), first)
}

type Slot = Deadlines & { locker: Hex; index: bigint }

function toGeoOp(deps: BuildDeps, quote: Quote, slot: Slot): GeoOp {
  const delivery: Delivery = {
    ring: ringOf({
      chainId: quote.originChain,
      escrow: deps.contractsOf(quote.originChain).escrow,
      locker: slot.locker,
    }),
    index: slot.index,
    destinationChain: BigInt(quote.destinationChain),
    vault: toBytes32(deps.contractsOf(quote.destinationChain).vault),
    outputToken: toBytes32(quote.outputToken as Hex),
    minOutput: quote.minOutput,
    recipient: toBytes32(quote.recipient as Hex),
    fillDeadline: BigInt(slot.fillDeadline),
  }
  return {
    wallet: quote.wallet as Hex,
    inputToken: quote.inputToken as Hex,
    inputAmount: quote.amountIn,
    index: slot.index,
    opDeadline: BigInt(slot.opDeadline),
    refundDeadline: BigInt(slot.refundDeadline),
    locker: slot.locker,
    delivery,
  }
}
