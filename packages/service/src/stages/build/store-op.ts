import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { createKeyedTurns } from '../../async/timing.ts'
import type { WalletView } from '../../chains/chain.ts'
import { ServiceError } from '../../errors.ts'
import { type Db, inTransaction } from '../../store/db.ts'
import { readWasted } from '../../store/gas.ts'
import {
  countOpenByLocker,
  findOpByQuote,
  insertOp,
  readUnsubmitted,
  refreshBalance,
  type StoredOp,
  takePosition,
} from '../../store/ops.ts'
import { findSubmission } from '../../store/submissions.ts'
import { CENTI_BPS, divideUp, formatCents, formatUnits, largest, smallest } from '../../swap/amount.ts'
import { findExceeded, type GasBudgets, gasWasted } from '../../swap/budgets.ts'
import {
  type Catalog,
  type CatalogChain,
  type ChainNow,
  findToken,
  type Market,
  type Side,
} from '../../swap/catalog.ts'
import {
  type DeadlinePolicy,
  type Deadlines,
  deadlinesFrom,
  policyFor,
  routeTimesOf,
} from '../../swap/deadlines.ts'
import { type FeeRules, mostIntegratorFee } from '../../swap/fees.ts'
import { type CustodyOf, isRingShared, termsOfOp } from '../../swap/op-terms.ts'
import { type PairClass, pairClassOf } from '../../swap/pricing.ts'
import type { Quote } from '../../swap/quote.ts'
import { assertNotLate, assertOwnAttesters } from '../../swap/served-chain.ts'
import type { WayName } from '../../swap/swap.ts'
import { isSent, wayOf } from '../../ways/registry.ts'

export type StoreDeps = {
  pool: Pool
  catalog: Catalog
  market: Market
  custodyOf: CustodyOf
  /** The keys that may take an input on a chain. Keys for inputs with a delegation take no others. */
  lockersOf(chainId: number, input: { hasDelegation: boolean }): readonly string[]
  deadlines: DeadlinePolicy
  /** Of one account: how many built ops may wait for submission, and their value. */
  maxUnsubmitted: number
  /** One wallet may use up this part of both; absent where one caller has the account. */
  walletParts?: number
  gasBudgets: GasBudgets
  maxUnsubmittedCents: bigint
  fees: Pick<FeeRules, 'accounts'>
}

/** Whether this quote was submitted: its own swap may then explain the low balance. */
export async function hasSwap(pool: Pool, quote: Quote): Promise<boolean> {
  const op = await findOpByQuote(pool, quote.id)
  return op !== undefined && (await findSubmission(pool, { opId: op.id }))?.existing !== undefined
}

export function insufficientBalance(
  chain: CatalogChain,
  quote: Pick<Quote, 'inputToken' | 'amountIn' | 'originChain'>,
  balance: bigint,
): ServiceError {
  const show = amountWriter(chain, quote)
  const details = { required: quote.amountIn.toString(), balance: balance.toString() }
  return new ServiceError('INSUFFICIENT_BALANCE', {
    message: `The wallet holds ${show(balance)} on ${chain.name} and the swap takes ${show(quote.amountIn)}.`,
    details,
    recovery: { token: quote.inputToken, chainId: quote.originChain, ...details },
  })
}

/** Writes amounts of the quote's input token. */
export function amountWriter(chain: CatalogChain, { inputToken }: Pick<Quote, 'inputToken'>) {
  const token = findToken(chain, inputToken) ?? { decimals: 0, symbol: 'smallest units of the input token' }
  return (amount: bigint) => formatUnits(amount, token)
}

// Builds of one account wait for each other here, and not with a connection of the database in hand.
const inTurn = createKeyedTurns()

type WalletBalance = Pick<WalletView, 'balance' | 'block'>

/** How the input comes in. */
export type WayIn = {
  method: WayName
  /** With a delegation to our own code, which certain keys send. */
  hasDelegation?: boolean
  permitNonce?: bigint | undefined
  /** Code of others answers for the wallet. */
  isContract?: boolean
  depositAddressOf?(hash: string): string | undefined
}

/** `isNew` on the first build of a quote. */
type Built = StoredOp & { isNew: boolean }

/** Stores the op once: of two concurrent builds of a quote, the second returns the op of the first. */
export async function storeOnce(
  deps: StoreDeps,
  accountId: string,
  quote: Quote,
  wallet: WalletBalance,
  way: WayIn,
): Promise<Built> {
  const existing = await findOpByQuote(deps.pool, quote.id)
  if (existing) {
    // The wallet may have been funded since an earlier refusal.
    await refreshBalance(deps.pool, { opId: existing.id, ...wallet })
    return { ...existing, isNew: false }
  }
  await assertGas(deps, { accountId, quote, isContract: way.isContract ?? false })
  const deadlines = policyFor(deps.deadlines, {
    payer: wayOf(way).payer,
    pair: pairOf(deps, quote),
  })
  const clocks = getClocks({ ...deps, deadlines }, quote)
  const store = async (db: Db): Promise<Built> => {
    await db.query('select pg_advisory_xact_lock(hashtextextended($1, 1))', [accountId])
    const meanwhile = await findOpByQuote(db, quote.id)
    if (meanwhile) return { ...meanwhile, isNew: false }
    await assertRoomToBuild(deps, db, { accountId, quote, isSent: isSent(way) })
    const stored = await storeOp({ ...deps, deadlines }, db, { accountId, quote, wallet, clocks, way })
    return { ...stored, isNew: true }
  }
  return inTurn(accountId, () => inTransaction(deps.pool, store))
}

type Asked = { accountId: string; quote: Quote; isContract: boolean }

/** Refuses to build for those who wasted too much gas in this hour. */
async function assertGas({ pool, gasBudgets }: StoreDeps, { accountId, quote, isContract }: Asked) {
  const { wallet, originChain, destinationChain } = quote
  const payer = { wallet, accountId, chains: [originChain, destinationChain] }
  const { wasted, hourLeftMs } = await readWasted(pool, payer)
  const exceeded = findExceeded(gasBudgets, wasted, isContract)
  if (exceeded) throw gasWasted(exceeded, hourLeftMs)
}

function pairOf(deps: StoreDeps, quote: Quote): PairClass {
  const input = findToken(getChain(deps, quote.originChain), quote.inputToken)
  const output = findToken(getChain(deps, quote.destinationChain), quote.outputToken)
  return input && output ? pairClassOf(deps.catalog, { input, output }, deps.market.priceOf) : 'volatile'
}

type Building = { accountId: string; quote: Quote; isSent: boolean }

/**
 * Bounds the ops that wait, and their value: each is an offer that the caller may or may not take. A sent input is
 * priced and reserved when it arrives: its value counts for nothing before, and would shut out others at no cost.
 */
async function assertRoomToBuild(deps: StoreDeps, db: Db, { quote, ...whose }: Building): Promise<void> {
  await assertRoomFor(deps, db, { quote, ...whose })
  const { walletParts, maxUnsubmitted, maxUnsubmittedCents } = deps
  if (walletParts === undefined) return
  const part = {
    maxUnsubmitted: Math.floor(maxUnsubmitted / walletParts),
    maxUnsubmittedCents: maxUnsubmittedCents / BigInt(walletParts),
  }
  await assertRoomFor(part, db, { quote, ...whose, wallet: quote.wallet })
}

type Room = Pick<StoreDeps, 'maxUnsubmitted' | 'maxUnsubmittedCents'>

async function assertRoomFor(
  { maxUnsubmitted, maxUnsubmittedCents }: Room,
  db: Db,
  { quote, ...whose }: Building & { wallet?: string },
): Promise<void> {
  const waiting = await readUnsubmitted(db, whose)
  if (waiting.count >= maxUnsubmitted)
    throw tooMuchWaits(`At most ${maxUnsubmitted} built operations may wait for submission.`)
  if (!whose.isSent && waiting.count > 0 && waiting.cents + quote.valueCents > maxUnsubmittedCents)
    throw tooMuchWaits(
      `At most ${formatCents(maxUnsubmittedCents)} USD of built operations may wait for submission.`,
    )
}

function tooMuchWaits(limit: string): ServiceError {
  return new ServiceError('RATE_LIMITED', {
    message: `${limit} Submit some or wait.`,
    recovery: { retryAfterMs: 5_000 },
  })
}

type OpClocks = { origin: ChainNow; destination: ChainNow; deadlines: Deadlines }

function getClocks(deps: StoreDeps, quote: Quote): OpClocks {
  const origin = getNow(deps, quote.originChain, 'origin')
  const destination = getNow(deps, quote.destinationChain, 'destination')
  const clocks = { originSeconds: origin.seconds, destinationSeconds: destination.seconds }
  const timesOf = (chainId: number, { finalitySeconds }: ChainNow) => ({
    ...getChain(deps, chainId),
    measuredSeconds: finalitySeconds,
  })
  const route = routeTimesOf(timesOf(quote.originChain, origin), timesOf(quote.destinationChain, destination))
  const deadlines = deadlinesFrom(deps.deadlines, clocks, route)
  assertOwnAttesters(getChain(deps, quote.originChain), origin, deadlines.refundDeadline)
  return { origin, destination, deadlines }
}

function getChain({ catalog }: StoreDeps, chainId: number): CatalogChain {
  const chain = catalog.chains.get(chainId)
  if (!chain) throw new Error(`Chain ${chainId} is not configured`)
  return chain
}

function getNow(deps: StoreDeps, chainId: number, side: Side): ChainNow {
  const { market } = deps
  const now = market.chainNow(chainId)
  if (now) assertNotLate(getChain(deps, chainId), now)
  if (!now || !market.canSend(chainId, side))
    throw new ServiceError('CHAIN_UNAVAILABLE', { details: { chainId }, recovery: { retryAfterMs: 5_000 } })
  return now
}

type Draft = {
  accountId: string
  quote: Quote
  wallet: WalletBalance
  clocks: OpClocks
  way: WayIn
}

async function storeOp(
  deps: StoreDeps,
  db: Db,
  { accountId, quote, wallet, clocks, way }: Draft,
): Promise<StoredOp> {
  const id = randomUUID()
  const locker = await leastBusyLocker(deps, db, quote.originChain, way.hasDelegation ?? false)
  const { originChain: chainId } = quote
  const isShared = isRingShared(deps.custodyOf, chainId)
  const slot = await takePosition(db, { chainId, locker, isShared, opId: id })
  const content = { ...quote, inputAmount: quote.amountIn, locker, ...slot, ...clocks.deadlines }
  const { hash, deliveryHash, signed: terms } = termsOfOp(deps.custodyOf, content)
  const op = {
    ...content,
    id,
    quoteId: quote.id,
    accountId,
    hash,
    deliveryHash,
    terms,
    quotedOutput: quote.amountOut,
    integratorFee: allowedFee(deps.fees, accountId, quote),
    method: way.method,
    permitNonce: way.permitNonce,
    isContract: way.isContract,
    depositAddress: way.depositAddressOf?.(hash),
    walletBalance: wallet.balance,
    walletBlock: wallet.block,
    originBlock: clocks.origin.block,
    destinationBlock: clocks.destination.block,
  }
  return insertOp(db, op, deps.deadlines.opLifeSeconds)
}

/** At most what the account may add and the output leaves: a stolen seal key could name the whole input beside it. */
function allowedFee({ accounts }: StoreDeps['fees'], accountId: string, quote: Quote): bigint {
  const most = divideUp(quote.amountIn * BigInt(mostIntegratorFee({ accounts }, accountId)), CENTI_BPS)
  return largest(smallest(quote.integratorFee, most, quote.amountIn - quote.swappable), 0n)
}

async function leastBusyLocker(
  deps: StoreDeps,
  db: Db,
  chainId: number,
  hasDelegation: boolean,
): Promise<string> {
  const open = await countOpenByLocker(db, chainId)
  const [first, ...others] = deps.lockersOf(chainId, { hasDelegation })
  if (!first)
    throw new ServiceError('CHAIN_UNAVAILABLE', { details: { chainId }, recovery: { retryAfterMs: 5_000 } })
  return others.reduce((best, next) => ((open.get(next) ?? 0) < (open.get(best) ?? 0) ? next : best), first)
}
