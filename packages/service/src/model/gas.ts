import { largest } from './amount.ts'

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
 * Gas of each leg, measured by `npm run gas` and rounded up. `lock` is at a used position; `authorization` is the
 * EIP-7702 one of a first swap. A claim is one of a batch; a purchase is a delivery bought from a pool.
 */
export const GAS = {
  lock: 58_500n,
  authorization: 25_000n,
  lockAuthorized: 94_500n,
  lockPermitted: 113_000n,
  lockDeposited: 84_500n,
  recover: 83_500n,
  claim: 12_500n,
  deliver: 54_500n,
  purchase: 145_000n,
} as const
