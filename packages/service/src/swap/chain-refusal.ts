import { ServiceError } from '../errors.ts'
import type { CatalogChain, ChainNow } from './catalog.ts'
import { describeSeconds, isTooSlow } from './finality.ts'

// Delayed finality catches up within minutes.
const RETRY_AFTER_MS = 60_000

type Chain = Pick<CatalogChain, 'chainId' | 'name' | 'finality'>

/** Whether finality of the chain is so slow that its swaps have to wait. */
export function isLate(
  { finality }: Pick<Chain, 'finality'>,
  now: Pick<ChainNow, 'finalitySeconds'>,
): boolean {
  return isTooSlow(finality.hardSeconds, now.finalitySeconds)
}

/** Throws 503 while finality is too slow for the deadlines of a new op. */
export function assertNotLate(chain: Chain, now: Pick<ChainNow, 'finalitySeconds'>): void {
  const { finalitySeconds } = now
  if (finalitySeconds === undefined || !isLate(chain, now)) return
  const delay = describeSeconds(finalitySeconds - chain.finality.hardSeconds)
  throw new ServiceError('CHAIN_UNAVAILABLE', {
    message: `Finality of ${chain.name} takes ${delay} longer than usual, and swaps wait for it. Try again later.`,
    details: { chainId: chain.chainId, finalitySeconds: Math.round(finalitySeconds) },
    recovery: { retryAfterMs: RETRY_AFTER_MS },
  })
}

/** Throws 503 if attesters that this service does not know would decide the op: none of ours could claim its input. */
export function assertOwnAttesters(
  chain: Pick<Chain, 'chainId' | 'name'>,
  { attesterChange: change }: Pick<ChainNow, 'attesterChange'>,
  refundDeadline: number,
): void {
  if (change?.kind !== 'foreign' || refundDeadline < change.since) return
  throw new ServiceError('CHAIN_UNAVAILABLE', {
    message: `The escrow of ${chain.name} has attesters that are not of this service.`,
    details: { chainId: chain.chainId },
  })
}
