import { defaultDeadlines } from '../../packages/service/src/config.ts'
import { type Priced, tenTo } from '../../packages/service/src/swap/amount.ts'
import { defaultFees } from '../../packages/service/src/swap/fees.ts'
import {
  defaultPriceTolerance,
  followPrice,
  priceExactInput,
  priceFloorOf,
  withSlippage,
} from '../../packages/service/src/swap/pricing.ts'
import type { DepthCurve } from '../../packages/service/src/swap/venue.ts'
import { type Figure, isTrue } from './figures.ts'

// The default cap of an operator who holds half a million.
const EXPOSURE_CAP_USD = 25_000

import { createRandom, type Random } from './random.ts'

const [HOUR, HOURS, YEAR] = [3_600, 6, 31_536_000]
const QUOTE_SECONDS = 30
/** From submit to the record of the lock. */
const LOCK_SECONDS = 2
/** Until a lock is final, so that its exposure is free again. */
const FINAL_SECONDS = 900
/** Between the quotes that the caller keeps, and between its looks at them. */
const [STEP, LOOK_SECONDS] = [10, 2]
const SLIPPAGE_BPS = 300
/** The least gains for which a caller submits: the best of them counts. */
const THRESHOLDS_BPS = [0, 2, 5, 10, 20, 40, 80, 160]

/** `lifeSeconds`: of a quote and its op together. `isBounded`: no move above the fee is borne. */
type Rules = {
  lifeSeconds: number
  isRepriced: boolean
  toleranceBps: number
  feeCentiBps: number
  isBounded: boolean
}

const volatile: Rules = {
  lifeSeconds: QUOTE_SECONDS + defaultDeadlines.volatileLifeSeconds,
  isRepriced: true,
  toleranceBps: defaultPriceTolerance.volatileBps,
  feeCentiBps: defaultFees.volatileCentiBps,
  isBounded: true,
}
const gold: Rules = { ...volatile, feeCentiBps: defaultFees.volatileCentiBps / 2 }
/** Two dollars, of which one loses its peg and is not yet known to have. */
const pegged: Rules = {
  ...volatile,
  lifeSeconds: QUOTE_SECONDS + defaultDeadlines.opLifeSeconds,
  toleranceBps: defaultPriceTolerance.stableBps,
  feeCentiBps: defaultFees.peggedCentiBps,
}
/** One price for the whole life, within the slippage. */
const without: Rules = {
  ...volatile,
  lifeSeconds: QUOTE_SECONDS + defaultDeadlines.opLifeSeconds,
  isRepriced: false,
  toleranceBps: SLIPPAGE_BPS,
  isBounded: false,
}

/**
 * Measures the gain of the best caller from the operator by price in an hour. It quotes both ways at all times, keeps
 * every op until its end, and submits only when it pays, as much as the exposure cap lets through. Network costs are
 * zero.
 */
export async function measurePriceRisk(seed: number): Promise<Figure[]> {
  const worlds = [
    { volatility: 0.6, limit: 10 },
    { volatility: 3, limit: 60 },
  ]
  return [
    ...worlds.map((world) => figure(seed, '', { ...world, rules: volatile })),
    ...worlds.map((world) => figure(seed, ' with half the fee', { ...world, rules: gold })),
    ...worlds.map((world) => figure(seed, ' between pegged assets', { ...world, rules: pegged })),
    ...worlds.map(({ volatility }) => ({
      name: `The same at ${volatility * 100} %, if the sources are 10 seconds behind the market`,
      measured: usd(lossPerHour(seed, { volatility, rules: volatile, lag: 10 })),
      baseline: `${usd(lossPerHour(seed, { volatility, rules: without, lag: 10 }))} at one price for 150 s`,
    })),
  ]
}

type Goal = { volatility: number; limit: number; rules: Rules }

function figure(seed: number, of: string, { volatility, limit, rules }: Goal): Figure {
  const loss = lossPerHour(seed, { volatility, rules, lag: 0 })
  const name = `Operator's loss by price in an hour${of} at ${volatility * 100} % a year, USD`
  const unbounded = { ...rules, isBounded: false }
  const { feeCentiBps } = rules
  const baselines = [
    `${usd(lossPerHour(seed, { volatility, rules: unbounded, lag: 0 }))} with the whole tolerance`,
    `${usd(lossPerHour(seed, { volatility, rules: { ...without, feeCentiBps }, lag: 0 }))} at one price for 150 s`,
  ]
  return {
    ...isTrue(name, { ok: loss < limit, measured: usd(loss), goal: `< ${limit}` }),
    baseline: baselines.join(', '),
  }
}

const usd = (amount: number) => `${amount.toFixed(1)}`

type World = { volatility: number; rules: Rules; lag: number }

function lossPerHour(seed: number, world: World): number {
  const random = createRandom(seed)
  const hours = Array.from({ length: HOURS }, () => chancesOf(walk(random, world), world))
  const losses = THRESHOLDS_BPS.map((least) => {
    const all = hours.map((chances) => takenFrom(chances, least / 10_000))
    return all.reduce((sum, loss) => sum + loss, 0) / HOURS
  })
  return Math.max(...losses)
}

/** Prices of an hour, one per second, before it the time of a quote and after it that of a lock. */
function walk({ next }: Random, { volatility, rules }: World): bigint[] {
  const perSecond = volatility / Math.sqrt(YEAR)
  let price = 2_500
  return Array.from({ length: HOUR + rules.lifeSeconds + LOCK_SECONDS }, () => {
    const normal = Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())
    price *= Math.exp(perSecond * normal - perSecond ** 2 / 2)
    return BigInt(Math.round(price * 1e9)) * tenTo(9)
  })
}

/** The best submission at a moment: what the caller expects, and what the operator then loses, per dollar. */
type Chance = { now: number; expected: number; loss: number }
type Op = Parameters<typeof followPrice>[0]
type Live = { at: number; isSale: boolean; op: Op }

/** Every second moment: the best of all live ops. */
function chancesOf(prices: readonly bigint[], world: World): Chance[] {
  const { lifeSeconds } = world.rules
  const chances: Chance[] = []
  let live: Live[] = []
  for (let now = 0; now < prices.length - LOCK_SECONDS; now += LOOK_SECONDS) {
    live = live.filter(({ at }) => now - at <= lifeSeconds)
    if (now % STEP === 0) live.push(...[true, false].map((isSale) => quoteAt(prices, world, { now, isSale })))
    const offers = live.flatMap((each) => offerAt(prices, world, each, now) ?? [])
    const [first] = offers.sort((one, other) => other.expected - one.expected)
    if (first) chances.push({ now, expected: first.expected, loss: lossOf(prices, world, first, now) })
  }
  return chances
}

const DOLLAR: Priced = { decimals: 6, price: tenTo(18) }
const AMOUNT_USD = 10_000n
const sidesAt = (price: bigint, isSale: boolean) => {
  const ether: Priced = { decimals: 18, price }
  return isSale ? { input: ether, paid: DOLLAR } : { input: DOLLAR, paid: ether }
}
/** The sources, which may be behind. */
const seenAt = (prices: readonly bigint[], lag: number, now: number) => prices[Math.max(0, now - lag)] ?? 1n

function quoteAt(
  prices: readonly bigint[],
  { lag, rules }: World,
  { now, isSale }: { now: number; isSale: boolean },
): Live {
  const { input, paid } = sidesAt(seenAt(prices, lag, now), isSale)
  const amountIn = (AMOUNT_USD * tenTo(18 + input.decimals)) / input.price
  const curve: DepthCurve = {
    kind: 'depth',
    input,
    output: paid,
    spreadBps: 0n,
    impactBps: 0n,
    depth: tenTo(40),
  }
  const terms = {
    input,
    output: paid,
    feeCentiBps: BigInt(rules.feeCentiBps),
    originCost: 0n,
    deliveryCost: 0n,
    accountRent: 0n,
  }
  const price = priceExactInput(terms, curve, amountIn)
  if (typeof price === 'string') throw new Error(price)
  const { amountOut: quotedOutput, swappable, payAmount } = price
  const tokens = { payToken: 'output', outputToken: 'output' }
  const minOutput = withSlippage(quotedOutput, SLIPPAGE_BPS)
  const op = {
    ...tokens,
    quotedOutput,
    minOutput,
    payAmount,
    swappable,
    inputAmount: amountIn,
    priceFloor: rules.isBounded ? priceFloorOf(payAmount, { ...rules, keptCentiBps: terms.feeCentiBps }) : 0n,
  }
  return { at: now, isSale, op }
}

type Offer = Live & { paid: bigint; expected: number }

/** The payment of the op if it is submitted now. */
function offerAt(prices: readonly bigint[], world: World, live: Live, now: number): Offer | undefined {
  const paid = paidAt(prices, world, { ...live, now })
  return paid === undefined ? undefined : { ...live, paid, expected: gainAt(prices, { ...live, paid }, now) }
}

/** Once its lock is recorded the amount is fixed: the loss is that at the price of this moment. */
function lossOf(prices: readonly bigint[], world: World, { op, isSale, paid }: Offer, now: number): number {
  const priceFloor = (op.priceFloor * paid + op.payAmount - 1n) / op.payAmount
  const lowered = { ...op, quotedOutput: paid, payAmount: paid, priceFloor }
  const locking = { op: lowered, isSale, now: now + LOCK_SECONDS }
  const locked = paidAt(prices, world, locking)
  return locked === undefined ? 0 : gainAt(prices, { op, isSale, paid: locked }, now + LOCK_SECONDS)
}

function gainAt(
  prices: readonly bigint[],
  { op, isSale, paid }: Omit<Offer, 'at' | 'expected'>,
  now: number,
): number {
  const { input, paid: output } = sidesAt(prices[now] ?? 1n, isSale)
  const given = Number(op.inputAmount * input.price) / 10 ** input.decimals
  return Number(paid * output.price) / 10 ** output.decimals / given - 1
}

/** By the service's own rule; undefined if the swap fails. */
function paidAt(
  prices: readonly bigint[],
  { rules: { isRepriced, toleranceBps }, lag }: World,
  { op, isSale, now }: { op: Op; isSale: boolean; now: number },
): bigint | undefined {
  const paid = followPrice(op, sidesAt(seenAt(prices, lag, now), isSale), toleranceBps)
  if (paid === 'moved') return undefined
  return isRepriced || paid.output === op.quotedOutput ? paid.output : undefined
}

/** The loss of an hour in USD against a caller that submits from this gain on, whenever the cap has room. */
function takenFrom(chances: readonly Chance[], least: number): number {
  let [loss, freeAt] = [0, 0]
  for (const chance of chances) {
    if (chance.now < freeAt || chance.expected <= least) continue
    loss += chance.loss * EXPOSURE_CAP_USD
    freeAt = chance.now + FINAL_SECONDS
  }
  return loss
}
