import { ServiceError } from '../errors.ts'
import type { CatalogChain, ChainNow } from './catalog.ts'
import { describeSeconds, isTooSlow } from './finality.ts'

// Finality that fell behind catches up in minutes.
const RETRY_AFTER_MS = 60_000

type Chain = Pick<CatalogChain, 'chainId' | 'name' | 'finality'>

/** Whether a chain is final so late that swaps from and to it wait. */
export function isLate(
  { finality }: Pick<Chain, 'finality'>,
  now: Pick<ChainNow, 'finalitySeconds'>,
): boolean {
  return isTooSlow(finality.hardSeconds, now.finalitySeconds)
}

/** 503 while finality of the chain is so slow that no deadline of a new op would hold. */
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
