import { type Priced, tenTo } from '../../packages/service/src/swap/amount.ts'
import { defaultFees, mostGain } from '../../packages/service/src/swap/fees.ts'
import { priceExactInput, type Terms } from '../../packages/service/src/swap/pricing.ts'
import { rebalancingRate } from '../../packages/service/src/swap/scarcity.ts'
import type { DepthCurve } from '../../packages/service/src/swap/venue.ts'
import type { Figure } from './figures.ts'
import { createRandom, type Random } from './random.ts'

const DAYS = 30
const SWAPS_PER_DAY = 1_000
/** Of each chain in all demand, as where money comes from and goes to on a usual day. */
const ORIGINS = [0.4, 0.3, 0.2, 0.1]
const DESTINATIONS = [0.3, 0.3, 0.2, 0.2]
/** How much the shares of a day differ from those, up or down. */
const DRIFT = 0.5
const VAULT_USD = 250_000
/** The operator bridges all vaults back to equal parts once in so many days. */
const BRIDGED_EVERY = 7
/** Log-normal up to the most: half of all swaps are below the median, one in a hundred is 65 times as much. */
const [MEDIAN_USD, SIGMA, MOST_USD] = [100, 1.8, 25_000]
/** The part of callers that a basis point more turns away. */
const ELASTICITY = 0.1
/** Of what a vault has, one wallet may take this part. */
const WALLET_SHARE = 4n

type Swap = { from: number; to: number; amount: bigint; patience: number }
type Outcome = { asked: number; failed: number; left: number; earned: bigint; failedUsd: bigint; usd: bigint }

/** A month of USDC between four chains: how many swaps find too little, without and with a price for scarcity. */
export function simulateInventory(seed: number): Figure[] {
  const demand = demandOf(createRandom(seed))
  const before = serve(demand, 0)
  return [250, 500, 1_000].flatMap((maxCentiBps) => {
    const after = serve(demand, maxCentiBps)
    const name = `with at most ${maxCentiBps / 100} bps for rebalancing`
    return [
      { name: `Swaps that find no liquidity, ${name}`, measured: share(after), baseline: share(before) },
      { name: `The same by value, ${name}`, measured: shareUsd(after), baseline: shareUsd(before) },
      {
        name: `Swaps that leave for the price, ${name}`,
        measured: percent(after.left, after.asked),
        baseline: percent(before.left, before.asked),
      },
      { name: `Earned, USD, ${name}`, measured: usd(after.earned), baseline: usd(before.earned) },
    ]
  })
}

const percent = (part: number, of: number) => `${((part / of) * 100).toFixed(2)} %`
const share = ({ failed, asked }: Outcome) => percent(failed, asked)
const shareUsd = (outcome: Outcome) => percent(Number(outcome.failedUsd), Number(outcome.usd))
const usd = (amount: bigint) => (Number(amount) / 1e6).toFixed(0)

/** The same swaps for every price; each day has its own shares of the chains. */
function demandOf(random: Random): Swap[][] {
  return Array.from({ length: DAYS }, () => {
    const drifted = (shares: readonly number[]) =>
      shares.map((part) => part * (1 + DRIFT * (2 * random.next() - 1)))
    const [origins, destinations] = [drifted(ORIGINS), drifted(DESTINATIONS)]
    return Array.from({ length: SWAPS_PER_DAY }, () => {
      const from = pick(random, origins)
      const others = destinations.map((part, chain) => (chain === from ? 0 : part))
      return { from, to: pick(random, others), amount: sizeOf(random), patience: random.next() }
    })
  })
}

function pick({ next }: Random, shares: readonly number[]): number {
  let left = next() * shares.reduce((sum, part) => sum + part, 0)
  const found = shares.findIndex((part) => {
    left -= part
    return left < 0
  })
  return found < 0 ? shares.length - 1 : found
}

function sizeOf(random: Random): bigint {
  const normal = Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next())
  const size = MEDIAN_USD * Math.exp(SIGMA * normal)
  return size > MOST_USD ? sizeOf(random) : BigInt(Math.ceil(size * 1e6))
}

function serve(demand: readonly Swap[][], maxCentiBps: number): Outcome {
  const outcome = { asked: 0, failed: 0, left: 0, earned: 0n, failedUsd: 0n, usd: 0n }
  const full = BigInt(VAULT_USD) * tenTo(6)
  let held = ORIGINS.map(() => full)
  for (const [day, swaps] of demand.entries()) {
    if (day % BRIDGED_EVERY === 0) held = evenly(held)
    for (const swap of swaps) serveOne(held, swap, { maxCentiBps, outcome })
  }
  return outcome
}

function evenly(held: readonly bigint[]): bigint[] {
  const total = held.reduce((sum, each) => sum + each, 0n)
  return held.map(() => total / BigInt(held.length))
}

type Serving = { maxCentiBps: number; outcome: Outcome }

function serveOne(held: bigint[], { from, to, amount, patience }: Swap, { maxCentiBps, outcome }: Serving) {
  outcome.asked += 1
  outcome.usd += amount
  const [at, depth] = [held[from] ?? 0n, held[to] ?? 0n]
  const terms = termsOf(held, { from, to, amount }, maxCentiBps)
  // The others would take any price.
  const dearerBps = Number(terms.rebalancingCentiBps ?? 0n) / 100
  if (dearerBps > 0 && patience < ELASTICITY * dearerBps) {
    outcome.left += 1
    return
  }
  const price = depth === 0n ? 'tooLarge' : priceExactInput(terms, curveOf(depth), amount)
  if (typeof price === 'string') {
    outcome.failed += 1
    outcome.failedUsd += amount
    return
  }
  held[from] = at + amount
  held[to] = depth - price.amountOut
  outcome.earned += amount - price.amountOut
}

const DOLLAR: Priced = { decimals: 6, price: tenTo(18) }
const IMPACT_BPS = 10n

function termsOf(held: readonly bigint[], { from, to, amount }: Omit<Swap, 'patience'>, max: number): Terms {
  const total = held.reduce((sum, each) => sum + each, 0n)
  const stockOf = (chain: number, added: bigint) => ({
    ...{ held: (held[chain] ?? 0n) + added, total, shareBps: 10_000 / held.length },
  })
  const left = { origin: stockOf(from, amount), destination: stockOf(to, -amount) }
  const feeCentiBps = defaultFees.sameAssetCentiBps
  return {
    ...{ input: DOLLAR, output: DOLLAR, feeCentiBps: BigInt(feeCentiBps) },
    ...{ originCost: 0n, deliveryCost: 0n, accountRent: 0n },
    rebalancingCentiBps: rebalancingRate({ maxCentiBps: max }, left, mostGain(defaultFees, feeCentiBps)),
  }
}

const curveOf = (depth: bigint): DepthCurve => ({
  ...{ kind: 'depth', input: DOLLAR, output: DOLLAR, spreadBps: 0n },
  ...{ impactBps: IMPACT_BPS, depth, most: depth / WALLET_SHARE },
})
