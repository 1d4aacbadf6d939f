// Whoever quotes in calm and submits in a storm does not have the operator pay for it.
const HEADROOM = 10n

/**
 * The most that a lock or a delivery may offer for a unit of gas: ten times what the quote charged, or what makes it
 * cost a dollar where that is more. A swap for which it is not enough waits, and fails or goes back at its deadline.
 * `dollar` and the `cost` of the leg are in the chain's own coin. 0 bounds nothing: gas is free, or not paid for.
 */
export function feeBoundOf({
  gasPrice,
  cost,
  dollar,
}: Record<'gasPrice' | 'cost' | 'dollar', bigint>): bigint {
  if (gasPrice === 0n) return 0n
  const forDollar = (gasPrice * dollar) / cost
  return forDollar > HEADROOM * gasPrice ? forDollar : HEADROOM * gasPrice
}

/** What keeps to all of these, where 0 bounds nothing. */
export function leastBound(bounds: readonly bigint[]): bigint {
  const least = (a: bigint, b: bigint) => (a === 0n || (b !== 0n && b < a) ? b : a)
  return bounds.reduce(least, 0n)
}

/**
 * Gas of each leg, measured by `npm run gas` and rounded up: a lock on a used position, what a first swap's
 * authorization adds, one claim in a batch, one delivery, one delivery bought from a pool.
 */
export const GAS = {
  lock: 58_500n,
  authorization: 25_000n,
  claim: 12_500n,
  deliver: 54_500n,
  purchase: 145_000n,
} as const
