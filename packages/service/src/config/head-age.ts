import type { ChainConfig } from '../config.ts'

/** How long a head may stand still before the chain counts as down: five blocks, and at least 15 s. */
export function maxHeadAgeMs(chain: Pick<ChainConfig, 'blockMs' | 'maxHeadAgeMs'>): number {
  return chain.maxHeadAgeMs ?? Math.max(15_000, 5 * chain.blockMs)
}
