import type { FeeDiscount } from '@geoswap/wire'
import { divideUp, tenTo } from './amount.ts'

/** An amount of an asset in units of 10^-`decimals`. */
export type Held = { amount: bigint; decimals: number }

/** A holding of at least `holding` reduces the fee by `percent`. */
type Tier = { name: string; holding: Held; percent: number }

/**
 * The discount that a wallet has earned. `isUncertain`: a chain did not tell in time what the wallet holds there, so
 * it may have earned more.
 */
export type Earned = { tier?: Tier; isUncertain?: true }

/** `feeDiscount` is set only if the fee is reduced. */
export type ServiceFee = { feeCentiBps: number; feeDiscount?: FeeDiscount }

export const NOTHING_HELD: Held = { amount: 0n, decimals: 0 }

/** Parses a decimal number of whole tokens: `1000`, `0.5`. */
export function toHeld(text: string): Held {
  const [whole = '', fraction = ''] = text.split('.')
  return { amount: BigInt(`${whole}${fraction}`), decimals: fraction.length }
}

type WrittenTier = Omit<Tier, 'holding'> & { holding: string }

export function toTiers(written: readonly WrittenTier[]): Tier[] {
  return written.map(({ name, holding, percent }) => ({ name, holding: toHeld(holding), percent }))
}

/** The exact sum of holdings of one asset, whose tokens may differ in decimals. */
export function sumHeld(parts: readonly Held[]): Held {
  const decimals = parts.reduce((most, part) => Math.max(most, part.decimals), 0)
  const amount = parts.reduce((sum, part) => sum + part.amount * tenTo(decimals - part.decimals), 0n)
  return { amount, decimals }
}

export function isAtLeast(held: Held, least: Held): boolean {
  return held.amount * tenTo(least.decimals) >= least.amount * tenTo(held.decimals)
}

/** The fee reduced by `percent`, rounded up to a whole hundredth of a basis point. */
export function reduceFeeUp(feeCentiBps: number, percent: number): number {
  return Number(divideUp(BigInt(feeCentiBps) * BigInt(100 - percent), 100n))
}

/** Whether each tier requires more and gives more than the one below, so that holding more never costs more. */
export function isRising(tiers: readonly Tier[]): boolean {
  return tiers.every(({ holding, percent }, index) => {
    const below = tiers[index - 1] ?? { holding: NOTHING_HELD, percent: 0 }
    return !isAtLeast(below.holding, holding) && percent > below.percent
  })
}

/** Maps a holding to the tier that it earns. Each object is built once, so that quotes allocate nothing. */
export function createEarnedByHolding(tiers: readonly Tier[]): (held: Held) => Earned {
  const nothing: Earned = {}
  const steps = tiers.map((tier): Required<Pick<Earned, 'tier'>> => ({ tier })).reverse()
  return (held) => steps.find(({ tier }) => isAtLeast(held, tier.holding)) ?? nothing
}

/** A fee less what the wallet earned, which leaves at least the floor. */
export function discountedFee(base: number, floor: number, { tier }: Earned): ServiceFee {
  if (!tier) return { feeCentiBps: base }
  const reduced = Math.max(reduceFeeUp(base, tier.percent), floor)
  // The fee is so small that rounding or the floor cancels the discount.
  if (reduced >= base) return { feeCentiBps: base }
  const feeDiscount = { tier: tier.name, discountPercent: tier.percent, baseFeeBps: base / 100 }
  return { feeCentiBps: reduced, feeDiscount }
}
