import type { Catalog, Token } from './catalog.ts'
import { arePegged } from './origin-methods.ts'

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
