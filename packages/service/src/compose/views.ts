import type { Pool } from 'pg'
import { createViews, type Views } from '../engine/views.ts'
import { createClaimLimits } from '../market/claim-limits.ts'
import { capsOf } from './catalog.ts'
import type { Chains } from './chains.ts'

type ViewListener = {
  onHead?(chainId: number): void
  onPrices?(chainId: number): void
  onFault(error: unknown): void
}

type OpenViews = Views & { channels: { chain_view(payload: string): void } }

/** The views of all configured chains, and the notification channels that refresh them. */
export function openViews(pool: Pool, chains: Pick<Chains, 'all'>, listener: ViewListener): OpenViews {
  const followed = chains.all.map(({ config }) => ({
    chainId: config.chainId,
    maxAgeMs: config.maxHeadAgeMs,
  }))
  const views = createViews({ pool, chains: followed, ...listener })
  return { ...views, channels: { chain_view: views.noteAnnounced } }
}

type Parts = { chains: Chains; views: Pick<Views, 'of'> }

/**
 * Follows the largest input that a quote may name, from the chains' claim caps and the booked claims and deliveries.
 */
export function followClaimLimits({ chains, views }: Parts) {
  return createClaimLimits({
    claimCapOf(chainId, token) {
      const state = views.of(chainId).part('state')
      return state ? (state.value.claimCaps[token] ?? 'none') : 'unknown'
    },
    secondsOf: (chainId) => views.of(chainId).current()?.head.seconds,
    capsOf: (chainId) => capsOf(chains.of(chainId).config),
  })
}
