import { BPS, CENTI_BPS, largest, smallest } from './amount.ts'

/** `shareBps`: the part of all holdings of an asset that belongs on this chain. */
type Target = { chainId: number; asset: string; shareBps: number }
export type Rebalancing = { maxCentiBps: number; targets: readonly Target[] }

/** The holdings of one asset on one chain and on all, in one unit. */
export type Stock = { held: bigint; total: bigint; shareBps: number }

/** In millionths: nothing lacks from half of the target on, and all without any. */
export function scarcityOf({ held, total, shareBps }: Stock): bigint {
  const half = (total * BigInt(shareBps)) / (2n * BPS)
  if (half <= 0n || held >= half) return 0n
  return ((half - largest(held, 0n)) * CENTI_BPS) / half
}

/** Stocks as the swap leaves them, so that no part of it is priced better than its end. */
type Left = { origin: Stock; destination: Stock }

/**
 * The rate for taking what is scarce, less that for bringing it, in hundredths of a basis point of the input. A swap
 * gains at most `mostGain`, which leaves a fee: no round trip gains. See docs/costs.md#inventory.
 */
export function rebalancingRate(
  { maxCentiBps }: Pick<Rebalancing, 'maxCentiBps'>,
  { origin, destination }: Left,
  mostGain: bigint,
): bigint {
  const most = BigInt(maxCentiBps)
  const paid = (scarcityOf(destination) * most + CENTI_BPS - 1n) / CENTI_BPS
  const gained = (scarcityOf(origin) * most) / CENTI_BPS
  return largest(paid - gained, -smallest(mostGain, most))
}
