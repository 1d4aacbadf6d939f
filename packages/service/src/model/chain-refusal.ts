import { ServiceError } from '../errors.ts'
import type { CatalogChain, ChainNow } from './catalog.ts'
import { describeSeconds, isTooSlow } from './finality.ts'

// Delayed finality catches up within minutes.
const RETRY_AFTER_MS = 60_000

// A proposal is accepted or lapses within two days of its delay.
const CHANGE_RETRY_MS = 3_600_000

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

/**
 * Throws 503 if an input could be refunded only after a pending change of attesters: the escrow refuses such a lock, so
 * that the attesters who were there decide it.
 */
export function assertBeforeChange(
  chain: Pick<Chain, 'chainId' | 'name'>,
  { attesterChange: change }: Pick<ChainNow, 'attesterChange'>,
  refundDeadline: number,
): void {
  if (!change || refundDeadline < change.readyAt) return
  const at = new Date(change.readyAt * 1_000).toISOString()
  throw new ServiceError('CHAIN_UNAVAILABLE', {
    message: `The attesters of ${chain.name} change at ${at}; no swap from it may last until then. Try again later.`,
    details: { chainId: chain.chainId, attesterChangeAt: at },
    recovery: { retryAfterMs: CHANGE_RETRY_MS },
  })
}
