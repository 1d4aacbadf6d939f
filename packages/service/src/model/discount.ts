import type { FeeDiscount } from '@geoswap/wire'
import { divideUp, tenTo } from './amount.ts'

/** So much of an asset: `amount` in units of which a whole token has ten to the `decimals`. */
export type Held = { amount: bigint; decimals: number }

/** Who holds at least this much pays so many percent less. */
export type Tier = { name: string; holding: Held; percent: number }

/** What a wallet pays; `feeDiscount` is there only when it is less than everybody pays. */
export type ServiceFee = { feeCentiBps: number; feeDiscount?: FeeDiscount }

export const NOTHING_HELD: Held = { amount: 0n, decimals: 0 }

/** Reads whole tokens as people write them: `1000`, `0.5`. */
export function toHeld(text: string): Held {
  const [whole = '', fraction = ''] = text.split('.')
  return { amount: BigInt(`${whole}${fraction}`), decimals: fraction.length }
}

type WrittenTier = Omit<Tier, 'holding'> & { holding: string }

export function toTiers(written: readonly WrittenTier[]): Tier[] {
  return written.map(({ name, holding, percent }) => ({ name, holding: toHeld(holding), percent }))
}

/** The exact sum over tokens that have the asset in common, but not their decimals. */
export function sumHeld(parts: readonly Held[]): Held {
  const decimals = parts.reduce((most, part) => Math.max(most, part.decimals), 0)
  const amount = parts.reduce((sum, part) => sum + part.amount * tenTo(decimals - part.decimals), 0n)
  return { amount, decimals }
}

export function isAtLeast(held: Held, least: Held): boolean {
  return held.amount * tenTo(least.decimals) >= least.amount * tenTo(held.decimals)
}

/** The fee less so many percent, rounded up to a whole hundredth of a basis point. */
export function reduceFeeUp(feeCentiBps: number, percent: number): number {
  return Number(divideUp(BigInt(feeCentiBps) * BigInt(100 - percent), 100n))
}

/** Tiers go up, in what they ask for and in what they give: holding more never costs more. */
export function isRising(tiers: readonly Tier[]): boolean {
  return tiers.every(({ holding, percent }, index) => {
    const below = tiers[index - 1] ?? { holding: NOTHING_HELD, percent: 0 }
    return !isAtLeast(below.holding, holding) && percent > below.percent
  })
}

/** The fee by what a wallet holds. Each tier's fee is made once, so that a quote copies nothing. */
export function createFeeByHolding(feeCentiBps: number, tiers: readonly Tier[]): (held: Held) => ServiceFee {
  const undiscounted: ServiceFee = { feeCentiBps }
  const steps = tiers.map((tier) => ({ holding: tier.holding, fee: toFee(feeCentiBps, tier) })).reverse()
  return (held) => steps.find(({ holding }) => isAtLeast(held, holding))?.fee ?? undiscounted
}

function toFee(feeCentiBps: number, { name, percent }: Tier): ServiceFee {
  const reduced = reduceFeeUp(feeCentiBps, percent)
  // A fee so small that rounding eats the discount.
  if (reduced === feeCentiBps) return { feeCentiBps }
  const feeDiscount = { tier: name, discountPercent: percent, baseFeeBps: feeCentiBps / 100 }
  return { feeCentiBps: reduced, feeDiscount }
}
