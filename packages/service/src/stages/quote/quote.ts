import { randomFillSync } from 'node:crypto'
import type { NamedQuoteRequest, QuoteReply, QuoteWarning } from '@geoswap/wire'
import type { RecipientView } from '../../chains/chain.ts'
import { invalidRequest, ServiceError } from '../../errors.ts'
import type { Screening } from '../../screen/denials.ts'
import { mostWithin } from '../../swap/amount.ts'
import type { Catalog, Market } from '../../swap/catalog.ts'
import { discountedFee, type Earned, type ServiceFee } from '../../swap/discount.ts'
import { fastWayOf, type RouteSpeed, settlementOf } from '../../swap/eta.ts'
import {
  baseFeeOf,
  type FeeRules,
  feeClassOf,
  floorOf,
  mostGain,
  mostIntegratorFee,
} from '../../swap/fees.ts'
import {
  allowanceOf,
  assertAllowed,
  beyondAllowance,
  type KeyRules,
  type RuledTerms,
} from '../../swap/key-rules.ts'
import { assertServed, partiesOf } from '../../swap/parties.ts'
import { type PairClass, type PriceTolerance, pairClassOf, toleranceOf } from '../../swap/pricing.ts'
import { namedOutput, type Quote, toSealed } from '../../swap/quote.ts'
import { findRefusedAsset, type RegionRules } from '../../swap/regions.ts'
import type { Rebalancing } from '../../swap/scarcity.ts'
import type { Venue } from '../../swap/venue.ts'
import { waysOf } from '../../ways/registry.ts'
import {
  amountsOf,
  type Choice,
  chooseVenue,
  largestAmount,
  priceWays,
  tokenOf,
  toQuotedMethods,
  valueCentsOf,
  withPremium,
} from './choose.ts'
import { type BaseTerms, feeBoundsOf, termsOf } from './costs.ts'
import {
  describePrice,
  describeSpeeds,
  mostInputWithin,
  type SpeedWay,
  slowSettlement,
  tooSlow,
} from './describe.ts'
import { rebalancingOf } from './rebalancing.ts'
import { type AddressesOf, assertNotStopped, type FindStop, type Order, toOrder } from './request.ts'

export type QuoteDeps = {
  catalog: Catalog
  market: Market
  /** In tie-breaking order. */
  venues: readonly Venue[]
  addressesOf: AddressesOf
  /** Finds a stop that applies to an order; from memory. */
  findStop: FindStop
  /** Inspects the recipient on its chain; undefined if the chain can pay every address. */
  inspectRecipient(order: Order): Promise<RecipientView> | undefined
  /** Whether this is the address of a stored op, to which its deposit is sent. */
  isDepositAddress(address: string): Promise<boolean>
  /** Whether the wallet is known to be delegated; for any other, the price includes its delegation. */
  isKnownDelegated(chainId: number, wallet: string): boolean
  /** Whether the parties of an order are served. Absent if everybody is. */
  screening?: Pick<Screening, 'ofCaller' | 'note'> | undefined
  /** Absent if every asset is quoted everywhere. */
  regions?: RegionRules | undefined
  /** The value of the swaps that a key submitted today. */
  readSpentCents(keyId: string): Promise<bigint>
  /** The value of the swaps that a wallet paid for at this account today. */
  readWalletCents(payer: { accountId: string; wallet: string }): Promise<bigint>
  sealQuote(accountId: string, payload: unknown): string
  now(): number
  fees: FeeRules
  /** Undefined if holdings do not change prices. */
  rebalancing: Rebalancing | undefined
  /** The discount of this wallet; from memory, except that its first quote waits a moment for its holdings. */
  earnedBy(family: Order['origin']['family'], wallet: string): Earned | Promise<Earned>
  /** The balance of the order's input token, as a build would read it. */
  readBalance(order: Order): Promise<bigint>
  highImpactBps: number
  tolerance: PriceTolerance
  quoteTtlMs: number
  /** Typical time of this route from submission to `settled`, with inputs accepted at this depth. */
  etaSecondsOf(origin: Order['origin'], destination: Order['destination'], depth: number): number
}

type Caller = {
  accountId: string
  keyId: string
  rules: KeyRules
  region?: string | undefined
  /** Whether the input comes in as the payment of a request, and in no other way. */
  isPayment?: boolean
}
/** The value of the swaps of this day, of the key and of the wallet, if it is limited. */
type Payer = Caller & { spentCents: bigint; walletCents: bigint }

/**
 * Prices an order from memory. A node is asked only about a recipient that has to be inspected, the balance for `max`,
 * and the holdings of a new wallet; the database only about a daily limit.
 */
export function quote(
  deps: QuoteDeps,
  caller: Caller,
  request: NamedQuoteRequest,
): QuoteReply | Promise<QuoteReply> {
  if (request.amount === 'max') return quoteBalance(deps, caller, request)
  return quoteOrder(deps, caller, toOrder(deps.catalog, deps.addressesOf, request))
}

async function quoteBalance(
  deps: QuoteDeps,
  caller: Caller,
  request: NamedQuoteRequest,
): Promise<QuoteReply> {
  if (request.tradeType === 'exactOutput')
    throw invalidRequest({ field: 'amount', message: 'can be max only with tradeType exactInput' })
  const order = toOrder(deps.catalog, deps.addressesOf, { ...request, amount: '1' })
  const amount = await deps.readBalance(order)
  if (amount === 0n) throw nothingHeld(order)
  return quoteOrder(deps, caller, { ...order, amount })
}

function nothingHeld({ wallet, input, origin }: Order): ServiceError {
  const details = { balance: '0' }
  return new ServiceError('INSUFFICIENT_BALANCE', {
    message: `${wallet} holds no ${input.symbol} on ${origin.name}. Fund it, or choose another token.`,
    details,
    recovery: { token: input.address, chainId: origin.chainId, ...details },
  })
}

function quoteOrder(deps: QuoteDeps, caller: Caller, order: Order): QuoteReply | Promise<QuoteReply> {
  assertAllowed(caller.rules, toRuledTerms(order))
  assertIntegratorFee(deps.fees, caller.accountId, order)
  assertOffered(deps, caller, order)
  const earned = deps.earnedBy(order.origin.family, order.wallet)
  const screened = screen(deps, caller, order)
  const inspecting = deps.inspectRecipient(order) ?? inspectAddress(deps, order)
  const spent = caller.rules.maxDayCents === undefined ? 0n : deps.readSpentCents(caller.keyId)
  const ofWallet = readOfWallet(deps, caller, order)
  const isLimited = typeof spent !== 'bigint' || typeof ofWallet !== 'bigint'
  if (!inspecting && !isLimited && !(earned instanceof Promise) && !screened) {
    const payer = { ...caller, spentCents: spent, walletCents: ofWallet }
    return priceOrder(deps, payer, order, { earned, rent: 0n })
  }
  return Promise.all([earned, inspecting, spent, ofWallet, screened]).then(
    ([known, recipient, spentCents, walletCents]) => {
      const payer = { ...caller, spentCents, walletCents }
      if (!recipient) return priceOrder(deps, payer, order, { earned: known, rent: 0n })
      if (recipient.kind === 'refused') throw refusedRecipient(order, recipient.why)
      const { rent, leastOutput } = recipient
      return priceOrder(deps, payer, { ...order, leastOutput }, { earned: known, rent })
    },
  )
}

const readOfWallet = (deps: QuoteDeps, { accountId, rules }: Caller, { wallet }: Order) =>
  rules.maxWalletDayCents === undefined ? 0n : deps.readWalletCents({ accountId, wallet })

function assertOffered({ regions, screening }: QuoteDeps, { accountId, region }: Caller, order: Order): void {
  const asset = regions && findRefusedAsset(regions, region, [order.input.asset, order.output.asset])
  if (asset === undefined) return
  const party = { address: order.wallet, chainId: order.origin.chainId, role: 'wallet' } as const
  const reason = `${asset} in ${region ?? 'no region'}`
  screening?.note({ ...party, point: 'quote', accountId, reason, list: 'regions', version: '' })
  throw new ServiceError('UNSUPPORTED_TOKEN', {
    message: `${asset} is not offered here. Choose another token.`,
  })
}

/** Undefined if the decision is known: the parties are served. */
function screen(
  { screening }: QuoteDeps,
  { accountId }: Caller,
  { wallet, recipient, origin, destination }: Order,
): Promise<void> | undefined {
  const parties = partiesOf({
    wallet,
    recipient,
    originChain: origin.chainId,
    destinationChain: destination.chainId,
  })
  const verdict = screening?.ofCaller(parties, { point: 'quote', accountId }) ?? 'allow'
  if (verdict instanceof Promise) return verdict.then(assertServed)
  assertServed(verdict)
}

function assertIntegratorFee(fees: FeeRules, accountId: string, { integratorCentiBps }: Order): void {
  const most = mostIntegratorFee(fees, accountId)
  if (integratorCentiBps <= most) return
  const message = most === 0 ? 'is not allowed for this account' : `must be at most ${most} for this account`
  throw invalidRequest({ field: 'integratorFeeCentiBps', message })
}

function toRuledTerms({ origin, destination, input, output, wallet, recipient }: Order): RuledTerms {
  return {
    originChain: origin.chainId,
    destinationChain: destination.chainId,
    wallet,
    recipient,
    inputToken: input.address,
    outputToken: output.address,
  }
}

/** Undefined for the wallet itself: the quotes of most callers ask nobody. */
function inspectAddress({ isDepositAddress }: QuoteDeps, order: Order): Promise<RecipientView> | undefined {
  if (order.recipient === order.wallet) return undefined
  return isDepositAddress(order.recipient).then((isDeposit) =>
    isDeposit
      ? { kind: 'refused', why: "it is the address of a swap's deposit" }
      : { kind: 'payable', rent: 0n, leastOutput: 0n },
  )
}

function refusedRecipient({ destination }: Order, why: string): ServiceError {
  const message = `cannot receive this token on ${destination.name}: ${why}`
  return invalidRequest({ field: 'recipient', message })
}

type Read = { earned: Earned; rent: bigint }

function priceOrder(deps: QuoteDeps, payer: Payer, order: Order, { earned, rent }: Read): QuoteReply {
  const { isPayment = false } = payer
  const delegated = deps.isKnownDelegated(order.origin.chainId, order.wallet)
  const pair = pairClassOf(deps.catalog, order, deps.market.priceOf)
  const { feeCentiBps, feeDiscount } = feeOf(deps, payer.accountId, { order, pair, earned })
  const base = termsOf(deps.market, order, {
    feeCentiBps,
    integratorCentiBps: order.integratorCentiBps,
    rebalancingCentiBps: rebalancingOf(deps, order, mostGain(deps.fees, feeCentiBps)),
    delegated,
    isPayment,
    accountRent: rent,
  })
  const choice = chooseVenue(deps.venues, order, base)
  // Checked last: an order that could never be quoted gets its permanent reason.
  assertNotStopped(deps.findStop, order)
  assertAffordable(deps, payer, { order, base, choice })
  const { chosen, speeds, warnings } = settle(deps, { order, base, choice })
  if (chosen.choice !== choice) assertAffordable(deps, payer, { order, base, choice: chosen.choice })
  const expiresAt = deps.now() + deps.quoteTtlMs
  const toleranceBps = toleranceOf(deps.tolerance, pair)
  const priced = { order, base, choice: chosen.choice, toleranceBps, isPayment }
  const ways = priceWays(deps, priced)
  const quoted = { ...toQuote(deps, priced, expiresAt), ways }
  return {
    geoQuoteToken: deps.sealQuote(payer.accountId, toSealed(quoted)),
    origin: order.origin.family,
    input: quoted.amountIn.toString(),
    output: namedOutput(quoted).toString(),
    minOutput: quoted.minOutput.toString(),
    originMethods: waysOf(order.origin, order.input).length > 0 ? toQuotedMethods(quoted, ways) : undefined,
    feeBps: feeCentiBps / 100,
    expiresAt: new Date(expiresAt).toISOString(),
    externalId: order.externalId,
    etaSeconds: chosen.etaSeconds,
    speed: chosen.speed,
    speeds,
    ...describePrice(chosen.choice, deps.highImpactBps, warningsOf(earned, warnings)),
    ...(feeDiscount && { feeDiscount }),
  }
}

type Charged = { order: Order; pair: PairClass; earned: Earned }

function feeOf(
  { catalog, fees }: QuoteDeps,
  accountId: string,
  { order, pair, earned }: Charged,
): ServiceFee {
  const { input, output } = order
  const feeClass = feeClassOf(catalog, pair, [input, output])
  const base = baseFeeOf(fees, { accountId, feeClass, input, output })
  return discountedFee(base, floorOf(fees, base), earned)
}

type Priced = { order: Order; base: BaseTerms; choice: Choice }

/** Refuses a swap above the limits of the key, with the largest amount within them. */
function assertAffordable(deps: QuoteDeps, payer: Payer, { order, base, choice }: Priced) {
  const allowance = allowanceOf(payer.rules, payer.spentCents, payer.walletCents)
  if (!allowance || valueCentsOf(choice) <= allowance.cents) return
  const within = { ...base, mostInput: mostWithin(allowance.cents, base.input) }
  throw beyondAllowance(allowance, largestAmount(deps.venues, order, within), tokenOf(order))
}

function warningsOf({ isUncertain }: Earned, warnings: readonly QuoteWarning[]): readonly QuoteWarning[] {
  return isUncertain ? [...warnings, DISCOUNT_UNKNOWN] : warnings
}

const DISCOUNT_UNKNOWN: QuoteWarning = {
  code: 'DISCOUNT_UNKNOWN',
  message:
    'The holdings that earn a discount are not known yet. A quote in a few seconds may have a lower fee.',
}

// See docs/decisions.md#speed-has-a-price.
/** The way of the order that is in time, the cheaper first. Refuses an order with a shorter time limit. */
function settle(deps: QuoteDeps, { order, base, choice }: Priced) {
  const { origin, destination, maxEtaSeconds = Number.POSITIVE_INFINITY } = order
  const speed: RouteSpeed = {
    finality: origin.finality,
    roomCents: deps.market.exposureRoom(origin.chainId),
    fastCents: deps.market.fastRoom?.(origin.chainId),
    etaSecondsAt: (depth) => deps.etaSecondsOf(origin, destination, depth),
  }
  const ways = speedsOf(speed, { order, base, choice })
  const chosen = ways.find(({ etaSeconds }) => etaSeconds <= maxEtaSeconds)
  if (!chosen) {
    const mostInput = mostInputWithin(speed, maxEtaSeconds, base.input) ?? base.mostInput
    const most = largestAmount(deps.venues, order, { ...base, mostInput })
    throw tooSlow(order, Math.min(...ways.map(({ etaSeconds }) => etaSeconds)), most)
  }
  const fast = ways.find((way) => way.speed === 'fast')
  const isSlow = chosen.speed === 'final'
  const warnings = isSlow ? [slowSettlement(order, chosen.etaSeconds, fast?.etaSeconds)] : []
  return { chosen, speeds: describeSpeeds(order, ways), warnings }
}

/** A swap that would wait for finality has two ways if the chain has room for fast ones. */
function speedsOf(speed: RouteSpeed, { order, base, choice }: Priced): SpeedWay[] {
  const { etaSeconds, isSlow } = settlementOf(speed, valueCentsOf(choice))
  if (!isSlow) return [{ choice, etaSeconds }]
  const ways: SpeedWay[] = [{ speed: 'final', choice, etaSeconds }]
  const way = fastWayOf(speed, valueCentsOf(choice))
  const { mostInput } = base
  const fast = way && withPremium(choice, order, { mostInput, riskCentiBps: way.premiumCentiBps })
  // The premium on top of an exact output raises the value of the input.
  const fits = fast && fastWayOf(speed, valueCentsOf(fast))
  if (fits) ways.push({ speed: 'fast', choice: fast, etaSeconds: fits.etaSeconds })
  return ways
}

type Pricing = Priced & { toleranceBps: number }

function toQuote({ market }: QuoteDeps, { order, choice, toleranceBps }: Pricing, expiresAt: number): Quote {
  const amounts = amountsOf(choice, { order, toleranceBps })
  if (!amounts) throw new Error('The chosen way has no full price')
  return {
    ...amounts,
    ...feeBoundsOf(market, order),
    id: nextQuoteId(),
    originChain: order.origin.chainId,
    destinationChain: order.destination.chainId,
    wallet: order.wallet,
    recipient: order.recipient,
    inputToken: order.input.address,
    outputToken: order.output.address,
    venue: choice.offer.venue,
    payToken: choice.offer.payToken,
    createsAccount: choice.terms.accountRent > 0n,
    expiresAt,
    externalId: order.externalId,
  }
}

const ID_BYTES = 16
// One system call for many ids: a call for each costs more than pricing the quote.
const pool = Buffer.alloc(ID_BYTES * 256)
let used = pool.length

/** 128 random bits, so that quote ids cannot be guessed or repeated. */
function nextQuoteId(): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += ID_BYTES
  return pool.toString('base64url', used - ID_BYTES, used)
}
