import type { Pool } from 'pg'
import { createViews, type Views } from '../engine/views.ts'
import { type CapsOf, createClaimLimits, createOriginCaps } from '../market/claim-limits.ts'
import type { Catalog } from '../swap/catalog.ts'
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

type CapParts = {
  chains: Chains
  views: Pick<Views, 'of'>
  catalog: Catalog
  priceOf: Parameters<typeof createOriginCaps>[0]['priceOf']
}

/** The caps of the origin chains, by configuration or by what the views show in the vaults. */
export function followCaps({ chains, views, catalog, priceOf }: CapParts): CapsOf {
  return createOriginCaps({
    catalog,
    rulesOf: (chainId) => chains.of(chainId).config,
    holdingsOf: (chainId) => views.of(chainId).part('state')?.value.holdings ?? [],
    priceOf,
    now: Date.now,
  })
}

type Parts = { views: Pick<Views, 'of'>; capsOf: CapsOf }

/**
 * Follows the largest input that a quote may name, from the chains' claim caps and the booked claims and deliveries.
 */
export function followClaimLimits({ views, capsOf }: Parts) {
  return createClaimLimits({
    claimCapOf(chainId, token) {
      const state = views.of(chainId).part('state')
      return state ? (state.value.claimCaps[token] ?? 'none') : 'unknown'
    },
    secondsOf: (chainId) => views.of(chainId).current()?.head.seconds,
    capsOf,
  })
}
