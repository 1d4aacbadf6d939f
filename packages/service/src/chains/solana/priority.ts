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
