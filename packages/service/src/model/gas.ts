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
