import type { Pool } from 'pg'
import { maxHeadAgeMs } from '../config/head-age.ts'
import { createViews, type ViewOfChain, type Views } from '../lanes/views.ts'
import type { ChainNow } from '../model/catalog.ts'
import { VIEWS_CHANNEL } from '../store/chain-views.ts'
import type { Chains } from './chains.ts'

// Older fees say nothing about the current ones.
const COSTS_MS = 60_000

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

/** A chain as a quote sees it; undefined while it is not live, or its fees are unknown. */
export function toChainNow(view: ViewOfChain): ChainNow | undefined {
  const [heads, costs] = [view.current(), view.part('costs')]
  if (!heads || !costs || !view.isLive() || costs.ageMs > COSTS_MS) return undefined
  const { seconds, number: block, height } = heads.head
  const { finalitySeconds } = view.measured()
  return {
    seconds,
    block,
    height,
    costs: costs.value,
    ...(finalitySeconds !== undefined && { finalitySeconds }),
  }
}
