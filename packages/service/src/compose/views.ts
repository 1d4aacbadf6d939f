import type { Pool } from 'pg'
import { createViews, type ViewOfChain, type Views } from '../lanes/views.ts'
import type { ChainNow } from '../model/catalog.ts'
import { VIEWS_CHANNEL } from '../store/chain-views.ts'
import type { Chains } from './chains.ts'
import { maxHeadAgeMs } from './head-age.ts'

// What fees were this long ago says nothing about now.
const COSTS_MS = 60_000

type Told = { onHead?(chainId: number): void; onFault(error: unknown): void }

type OpenViews = Views & { channels: Record<string, () => void> }

/** The views of all configured chains, and the notifications that they are read by. */
export function openViews(pool: Pool, chains: Pick<Chains, 'all'>, told: Told): OpenViews {
  const followed = chains.all.map(({ config }) => ({
    chainId: config.chainId,
    maxAgeMs: maxHeadAgeMs(config),
  }))
  const views = createViews({ pool, chains: followed, ...told })
  return { ...views, channels: { [VIEWS_CHANNEL]: () => void views.refresh() } }
}

/** A chain as a quote sees it; undefined while it is not live, or its fees are not known. */
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
