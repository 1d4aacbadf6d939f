import type { Address } from '@solana/kit'
import type { SolanaClient } from './client.ts'

type Query = {
  /** The accounts that our transactions write to: each has its own fee market. */
  accounts: readonly string[]
  floor: bigint
  cap: bigint
}

/**
 * The price that three of four recent blocks would have accepted, in millionths of a lamport per unit, within bounds.
 */
export async function readPriorityPrice(
  { rpc }: SolanaClient,
  { accounts, floor, cap }: Query,
): Promise<bigint> {
  const recent = await rpc.getRecentPrioritizationFees(accounts as Address[]).send()
  const prices = recent
    .map(({ prioritizationFee }) => BigInt(prioritizationFee))
    .sort((a, b) => Number(a - b))
  const price = prices[Math.floor(prices.length * 0.75)] ?? floor
  if (price < floor) return floor
  return price > cap ? cap : price
}

// A claim that comes too late loses the whole input.
const URGENT = 100n
const URGENT_SECONDS = 3_600

type Bounds = Pick<Query, 'cap'>

/** The most that any transaction pays per unit. */
export const mostOf = ({ cap }: Bounds): bigint => cap * URGENT

/** The most that a claim pays per unit: in the last hour before anyone may refund its input, it grows a hundredfold. */
export function claimBound({ cap }: Bounds, refundDeadline: number, seconds: number): bigint {
  const passed = URGENT_SECONDS - (refundDeadline - seconds)
  if (passed <= 0) return cap
  const share = BigInt(Math.min(Math.floor(passed), URGENT_SECONDS))
  return cap + (cap * (URGENT - 1n) * share) / BigInt(URGENT_SECONDS)
}
