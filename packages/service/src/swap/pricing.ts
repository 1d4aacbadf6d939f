import type { Fee } from '@geoswap/wire'
import {
  BPS,
  CENTI_BPS,
  convertDown,
  convertUp,
  divideUp,
  largest,
  type Priced,
  type PriceE18,
  smallest,
  usdE18,
} from './amount.ts'
import { arePegged, type Catalog, type Token } from './catalog.ts'
import type { Op } from './swap.ts'
import { type Curve, isPurchase, mostSwappable, outputOf, soldFor, swappableFor } from './venue.ts'

/** The terms of one quote, apart from amount and venue. */
export type Terms = {
  input: Priced
  /** Undefined if the output has no reference price; its value is then not reported. */
  output: Priced | undefined
  feeCentiBps: bigint
  /** Paid for taking what is scarce; negative if it brings what is. Absent if it is not charged. */
  rebalancingCentiBps?: bigint
  /** The fee that the account adds for itself; absent if it adds nothing. */
  integratorCentiBps?: bigint
  /** For being paid before the lock is final; absent if that is not asked for. */
  riskCentiBps?: bigint
  /** Network costs of both legs, converted to the input token. */
  originCost: bigint
  deliveryCost: bigint
  /** Rent of a token account created for the recipient; 0 if none is created. */
  accountRent: bigint
}

export type Breakdown = {
  amountIn: bigint
  amountOut: bigint
  /** The parts of the input that are in proportion to it. */
  charges: readonly Charge[]
  /** The input minus fee and costs: the part that a venue converts to output. */
  swappable: bigint
  /** The amount that leaves the vault. */
  payAmount: bigint
}

type ChargeKind = Extract<Fee['kind'], 'serviceFee' | 'rebalancing' | 'integratorFee' | 'riskPremium'>
type Charge = readonly [kind: ChargeKind, amount: bigint]

function ratesOf(terms: Terms): (readonly [ChargeKind, bigint])[] {
  const { feeCentiBps, rebalancingCentiBps = 0n, integratorCentiBps = 0n, riskCentiBps = 0n } = terms
  return [
    ['serviceFee', feeCentiBps],
    ['rebalancing', rebalancingCentiBps],
    ['integratorFee', integratorCentiBps],
    ['riskPremium', riskCentiBps],
  ]
}

/** The part that the operator keeps. */
export const keptCentiBps = ({
  feeCentiBps,
  rebalancingCentiBps = 0n,
}: Pick<Terms, 'feeCentiBps' | 'rebalancingCentiBps'>): bigint => feeCentiBps + rebalancingCentiBps

const rateOf = (terms: Terms) => ratesOf(terms).reduce((sum, [, rate]) => sum + rate, 0n)

/** Each sum from the first on is rounded up, so that each charge is exact to less than one unit. */
function chargesOf(terms: Terms, amountIn: bigint): Charge[] {
  let [rate, charged] = [0n, 0n]
  return ratesOf(terms).map(([kind, centiBps]) => {
    rate += centiBps
    const before = charged
    charged = divideUp(amountIn * rate, CENTI_BPS)
    return [kind, charged - before]
  })
}

export const chargeOf = ({ charges }: Pick<Breakdown, 'charges'>, wanted: ChargeKind): bigint =>
  charges.find(([kind]) => kind === wanted)?.[1] ?? 0n

function split(terms: Terms, amountIn: bigint): Pick<Breakdown, 'charges' | 'swappable'> {
  const charges = chargesOf(terms, amountIn)
  const charged = charges.reduce((sum, [, amount]) => sum + amount, 0n)
  return {
    charges,
    swappable: amountIn - charged - terms.originCost - terms.deliveryCost - terms.accountRent,
  }
}

/** Prices an exact input: the swappable part by the venue's curve. Fees round up and the output down. */
export function priceExactInput(
  terms: Terms,
  curve: Curve,
  amountIn: bigint,
): Breakdown | 'tooSmall' | 'tooLarge' {
  const { charges, swappable } = split(terms, amountIn)
  if (swappable <= 0n) return 'tooSmall'
  const amountOut = outputOf(curve, swappable)
  if (amountOut === undefined) return 'tooLarge'
  if (amountOut === 0n) return 'tooSmall'
  return { amountIn, amountOut, charges, swappable, payAmount: payFor(curve, swappable, amountOut) }
}

/** The smallest input for an exact output. The rounding remainder stays in the price. */
export function priceExactOutput(terms: Terms, curve: Curve, amountOut: bigint): Breakdown | 'tooLarge' {
  const amountIn = inputFor(terms, curve, amountOut)
  if (amountIn === undefined) return 'tooLarge'
  const { charges, swappable } = split(terms, amountIn)
  return { amountIn, amountOut, charges, swappable, payAmount: payFor(curve, swappable, amountOut) }
}

/** The vault pays the output itself, or the amount that buys it: at most the value of the swappable input. */
function payFor(curve: Curve, swappable: bigint, amountOut: bigint): bigint {
  return curve.kind === 'depth' ? amountOut : soldFor(curve, swappable)
}

/** The smallest input that buys at least `amountOut`; undefined if it exceeds the liquidity. */
export function inputFor(terms: Terms, curve: Curve, amountOut: bigint): bigint | undefined {
  const swappable = swappableFor(curve, amountOut)
  return swappable === undefined ? undefined : inputLeaving(terms, swappable)
}

export function mostInput(terms: Terms, curve: Curve): bigint {
  return inputLeaving(terms, mostSwappable(curve) + 1n) - 1n
}

/** The smallest input that leaves `swappable` after fee and costs. */
function inputLeaving(terms: Terms, swappable: bigint): bigint {
  const afterFee = swappable + terms.originCost + terms.deliveryCost + terms.accountRent
  return divideUp(afterFee * CENTI_BPS, CENTI_BPS - rateOf(terms))
}

/**
 * Spread and impact together, in the input token: value of the swappable input minus value of the output, rounded down.
 * Negative if a market beats the reference price.
 */
export function priceImpactOf(terms: Terms, { swappable, amountOut }: Breakdown): bigint {
  if (!terms.output) return 0n
  return swappable - convertUp(amountOut, terms.output, terms.input)
}

export function withSlippage(amountOut: bigint, slippageBps: number): bigint {
  return (amountOut * (BPS - BigInt(slippageBps))) / BPS
}

type Sides = { input: Priced; output: Priced }

/** The all-in change of value from input to output in basis points, negative for a loss, rounded down. */
export function priceImpactBps(sides: Sides, amounts: { amountIn: bigint; amountOut: bigint }): number {
  const valueIn = usdE18(amounts.amountIn, sides.input)
  const valueOut = usdE18(amounts.amountOut, sides.output)
  if (valueIn === 0n) return 0
  const change = (valueOut - valueIn) * BPS
  const truncated = change / valueIn
  return Number(change < 0n && truncated * valueIn !== change ? truncated - 1n : truncated)
}

/** By how much its rate moves in a minute. */
export type PairClass = 'sameAsset' | 'stable' | 'volatile'

/** Two dollars this far apart do not follow each other now. */
const DEPEGGED_BPS = 50n

export function pairClassOf(
  catalog: Catalog,
  { input, output }: { input: Token; output: Token },
  priceOf: (asset: string) => PriceE18 | undefined,
): PairClass {
  if (input.asset === output.asset) return 'sameAsset'
  if (!arePegged(catalog, input, output)) return 'volatile'
  const [one, other] = [priceOf(input.asset), priceOf(output.asset)]
  if (one === undefined || other === undefined) return 'stable'
  const isApart = largest(one, other) * (BPS - DEPEGGED_BPS) > smallest(one, other) * BPS
  return isApart ? 'volatile' : 'stable'
}

/**
 * How far the market may move against the operator, in basis points, whatever slippage the caller accepts. A caller
 * waits for a move in its favour and gains the tolerance less the service fee, so `priceFloorOf` lowers it to that fee.
 * `lockedBps` counts from the lock on: nobody chooses that time any more.
 */
export type PriceTolerance = Readonly<Record<`${PairClass}Bps` | 'lockedBps', number>>

export const defaultPriceTolerance: PriceTolerance = {
  sameAssetBps: 10,
  stableBps: 10,
  volatileBps: 10,
  lockedBps: 300,
}

export const toleranceOf = (tolerance: PriceTolerance, pair: PairClass): number => tolerance[`${pair}Bps`]

// See docs/decisions.md#the-quoted-output-or-the-market.
/** The least worth of the input at which a quoted payment is made: it may fall by the tolerance, or the fee if less. */
export function priceFloorOf(
  payAmount: bigint,
  { toleranceBps, keptCentiBps }: { toleranceBps: number; keptCentiBps: bigint },
): bigint {
  const borne = smallest((BigInt(toleranceBps) * CENTI_BPS) / BPS, keptCentiBps)
  return divideUp(payAmount * (CENTI_BPS - borne), CENTI_BPS)
}

/** The payment of a delivery: the output, and what leaves the vault for it. */
export type Paid = { output: bigint; pay: bigint }

/** The op with this payment instead of the quoted one. */
export const withPaid = (op: Op, { output, pay }: Paid): Op => ({
  ...op,
  quotedOutput: output,
  payAmount: pay,
})

type FastTerms = Pick<Op, 'quotedOutput' | 'minOutput' | 'payAmount' | 'fastOutput'>

/** The payment of a fast swap before its lock is final: what the premium leaves of its terms. */
export function fastPayment({ quotedOutput, minOutput, payAmount, fastOutput }: FastTerms): Paid {
  const output = smallest(quotedOutput, largest(fastOutput, minOutput))
  return { output, pay: divideUp(payAmount * output, quotedOutput) }
}

type PaidTerms = Pick<
  Op,
  | ('quotedOutput' | 'minOutput' | 'payAmount' | 'payToken' | 'outputToken')
  | ('swappable' | 'inputAmount' | 'priceFloor')
>
type PaidSides = { input: Priced; paid: Priced }

/** The payment out of the vault: the output itself, or the budget for buying it. */
export function leavingVault(op: Pick<Op, 'payToken' | 'outputToken' | 'payAmount' | 'quotedOutput'>) {
  return isPurchase(op)
    ? { token: op.payToken, amount: op.payAmount }
    : { token: op.outputToken, amount: op.quotedOutput }
}

/** The amount of the vault's token that the input buys now. The op's own word counts only where it is less. */
export function worthOf(op: PaidTerms, { input, paid }: PaidSides): bigint {
  return convertDown(smallest(op.swappable, op.inputAmount), input, paid)
}

/**
 * The payment of a swap at these prices: the quoted output while the market moved no further than the tolerance, else
 * what the input buys now. `moved` if that is below the signed minimum.
 */
export function followPrice(op: PaidTerms, sides: PaidSides, toleranceBps: number): Paid | 'moved' {
  const quoted = { output: op.quotedOutput, pay: op.payAmount }
  const worth = worthOf(op, sides)
  const { amount } = leavingVault(op)
  if (worth >= withSlippage(amount, toleranceBps) && worth >= op.priceFloor) return quoted
  const output = isPurchase(op) && amount > 0n ? (op.quotedOutput * worth) / amount : worth
  if (output < op.minOutput || output === 0n) return 'moved'
  return output < quoted.output ? { output, pay: worth } : quoted
}
