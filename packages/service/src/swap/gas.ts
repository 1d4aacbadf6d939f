import { largest, smallest } from './amount.ts'
import type { LegCosts } from './catalog.ts'

// Protects the operator from a quote made at low gas prices and submitted at high ones.
const HEADROOM = 10n

/**
 * The highest gas price for a lock or a delivery: ten times the quoted price, or the price at which the leg costs a
 * dollar if that is higher. Beyond it a swap waits, and fails or is refunded at its deadline. `dollar` and `cost` are
 * in the chain's native coin. 0 means unbounded: gas is free or not paid for.
 */
export function feeBoundOf({
  gasPrice,
  cost,
  dollar,
}: Record<'gasPrice' | 'cost' | 'dollar', bigint>): bigint {
  if (gasPrice === 0n) return 0n
  return largest((gasPrice * dollar) / cost, HEADROOM * gasPrice)
}

/** The strictest of these bounds, where 0 means unbounded. */
export function leastBound(bounds: readonly bigint[]): bigint {
  const least = (a: bigint, b: bigint) => (a === 0n || (b !== 0n && b < a) ? b : a)
  return bounds.reduce(least, 0n)
}

/**
 * Gas of each leg, measured by `npm run gas` and rounded up. `lock` is at a used position; `delegation` is the
 * authorization of EIP-7702 of a first swap. A claim is one of a batch; a purchase is a delivery bought from a pool.
 */
export const GAS = {
  lock: 58_500n,
  delegation: 25_000n,
  recover: 83_500n,
  claim: 12_500n,
  deliver: 54_500n,
  purchase: 145_000n,
} as const

/** In the smallest unit of the chain's native coin. */
export type FloatLimits = { low: bigint; target: bigint; maxPerDay: bigint }
type GasKey = { address: string; balance: bigint }
type TopUp = { address: string; amount: bigint }

type Float = { limits: FloatLimits; spentToday: bigint; balance: bigint; costOfOne: bigint }

/**
 * The next top-up, for the key with the lowest balance. Undefined if none is due or the float cannot pay. A partial
 * top-up has to lift the key above its low mark; otherwise it would be due again at once.
 */
export function nextTopUp(keys: readonly GasKey[], float: Float): TopUp | undefined {
  const { limits, spentToday, balance, costOfOne } = float
  const [poorest] = keys
    .filter((key) => key.balance < limits.low)
    .sort((a, b) => (a.balance < b.balance ? -1 : a.balance > b.balance ? 1 : 0))
  if (!poorest) return undefined
  const amount = smallest(limits.target - poorest.balance, limits.maxPerDay - spentToday, balance - costOfOne)
  if (poorest.balance + amount < limits.low) return undefined
  return { address: poorest.address, amount }
}

/** A key below `low` should be topped up; a key below `dry` may be unable to pay for its next transaction. */
export type GasMarks = { low: bigint; dry: bigint }

// A transaction is funded up to its gas limit at twice the base fee, and may carry several swaps.
const DRY_LEGS = 20n
const LOW_LEGS = 200n

/** Marks from the current costs of a swap's legs. The operator's own mark applies if it is higher than `dry`. */
export function marksOf(
  { lock, delivery, deposits }: Pick<LegCosts, 'lock' | 'delivery' | 'deposits'>,
  limits?: FloatLimits,
): GasMarks {
  const leg = largest(lock + (deposits?.lock ?? 0n), delivery + (deposits?.delivery ?? 0n))
  const dry = leg * DRY_LEGS
  const low = limits?.low ?? leg * LOW_LEGS
  return { dry, low: largest(low, dry) }
}
