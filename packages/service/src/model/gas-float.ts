/** In the smallest unit of the chain's own coin. */
export type FloatLimits = { low: bigint; target: bigint; maxPerDay: bigint }
export type GasKey = { address: string; balance: bigint }
export type TopUp = { address: string; amount: bigint }

type Float = { limits: FloatLimits; spentToday: bigint; balance: bigint; costOfOne: bigint }

/**
 * The next top-up, of the key that has least; undefined when none is due or the float may or can pay none. A part of a
 * top-up is better than none, but not one that leaves the key below its low mark: it would only be due again.
 */
export function nextTopUp(keys: readonly GasKey[], float: Float): TopUp | undefined {
  const { limits, spentToday, balance, costOfOne } = float
  const [poorest] = keys
    .filter((key) => key.balance < limits.low)
    .sort((a, b) => (a.balance < b.balance ? -1 : a.balance > b.balance ? 1 : 0))
  if (!poorest) return undefined
  const amount = least(limits.target - poorest.balance, limits.maxPerDay - spentToday, balance - costOfOne)
  if (amount <= 0n || poorest.balance + amount < limits.low) return undefined
  return { address: poorest.address, amount }
}

function least(...amounts: readonly bigint[]): bigint {
  return amounts.reduce((a, b) => (a < b ? a : b))
}

/** Below `low` a key should be topped up; below `dry` it may not be able to pay for its next transaction. */
export type GasMarks = { low: bigint; dry: bigint }

// A transaction has to be covered up to its gas limit at twice the base fee, and one may carry several swaps.
const DRY_LEGS = 20n
const LOW_LEGS = 200n

/** By what the legs of a swap cost now; the operator's own mark counts where it is higher than dry. */
export function marksOf(costs: { lock: bigint; delivery: bigint }, limits?: FloatLimits): GasMarks {
  const leg = costs.lock > costs.delivery ? costs.lock : costs.delivery
  const dry = leg * DRY_LEGS
  const low = limits?.low ?? leg * LOW_LEGS
  return { dry, low: low > dry ? low : dry }
}
