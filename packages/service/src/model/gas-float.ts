import { largest, smallest } from './amount.ts'
import type { LegCosts } from './catalog.ts'

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
