import type { Pool } from 'pg'
import { maxHeadAgeMs } from '../config/head-age.ts'
import { createViews, type Views } from '../lanes/views.ts'
import { VIEWS_CHANNEL } from '../store/chain-views.ts'
import type { Chains } from './chains.ts'

type ViewListener = { onHead?(chainId: number): void; onFault(error: unknown): void }

type OpenViews = Views & { channels: Record<string, () => void> }

/** The views of all configured chains, and the notification channels that refresh them. */
export function openViews(pool: Pool, chains: Pick<Chains, 'all'>, listener: ViewListener): OpenViews {
  const followed = chains.all.map(({ config }) => ({
    chainId: config.chainId,
    maxAgeMs: maxHeadAgeMs(config),
  }))
  const views = createViews({ pool, chains: followed, ...listener })
  return { ...views, channels: { [VIEWS_CHANNEL]: () => void views.refresh() } }
}
