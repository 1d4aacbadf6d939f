import { convertDown, type Priced, smallest } from './amount.ts'
import { arePegged, type Catalog, type Token } from './catalog.ts'
import { withSlippage } from './pricing.ts'
import type { Op } from './swap.ts'
import { isPurchase } from './venue.ts'

/** By how much its rate moves in a minute. */
export type PairClass = 'sameAsset' | 'stable' | 'volatile'

export function pairClassOf(catalog: Catalog, input: Token, output: Token): PairClass {
  if (input.asset === output.asset) return 'sameAsset'
  return arePegged(catalog, input, output) ? 'stable' : 'volatile'
}

/**
 * How far the market may move against the operator, in basis points, whatever slippage the caller accepts. A caller
 * waits for a move in its favour and gains the tolerance less the service fee, so the default is below the usual fee.
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

/** The payment of a delivery: the output, and what leaves the vault for it. */
export type Paid = { output: bigint; pay: bigint }

type Terms = Pick<
  Op,
  | ('quotedOutput' | 'minOutput' | 'payAmount' | 'payToken' | 'outputToken')
  | ('swappable' | 'inputAmount' | 'priceFloor')
>
type Sides = { input: Priced; paid: Priced }

/** The payment out of the vault: the output itself, or the budget for buying it. */
export function leavingVault(op: Pick<Op, 'payToken' | 'outputToken' | 'payAmount' | 'quotedOutput'>) {
  return isPurchase(op)
    ? { token: op.payToken, amount: op.payAmount }
    : { token: op.outputToken, amount: op.quotedOutput }
}

/** The amount of the vault's token that the input buys now. The op's own word counts only where it is less. */
export function worthOf(op: Terms, { input, paid }: Sides): bigint {
  return convertDown(smallest(op.swappable, op.inputAmount), input, paid)
}

/**
 * The payment of a swap at these prices: the quoted output while the market moved no further than the tolerance, else
 * what the input buys now. `moved` if that is below the signed minimum.
 */
export function followPrice(op: Terms, sides: Sides, toleranceBps: number): Paid | 'moved' {
  const quoted = { output: op.quotedOutput, pay: op.payAmount }
  const worth = worthOf(op, sides)
  const { amount } = leavingVault(op)
  if (worth >= withSlippage(amount, toleranceBps) && worth >= op.priceFloor) return quoted
  const output = isPurchase(op) && amount > 0n ? (op.quotedOutput * worth) / amount : worth
  if (output < op.minOutput || output === 0n) return 'moved'
  return output < quoted.output ? { output, pay: worth } : quoted
}
