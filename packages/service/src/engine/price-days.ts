import type { Pool } from 'pg'
import { savePrices } from '../store/exports.ts'
import type { PriceE18 } from '../swap/amount.ts'
import type { Lane } from './lane.ts'

type Prices = { refresh(): Promise<void>; priceOf(asset: string): PriceE18 | undefined }
type Deps = { pool: Pool; assets: readonly string[]; prices: Prices }

const EVERY_MS = 600_000

/** Keeps a price of each asset for each day: the last one before its end. */
export function priceDaysLane({ pool, assets, prices }: Deps): Lane {
  const step = async (): Promise<void> => {
    await prices.refresh()
    const known = assets.flatMap((asset) => {
      const price = prices.priceOf(asset)
      return price === undefined ? [] : [[asset, price] as const]
    })
    if (known.length > 0) await savePrices(pool, new Map(known))
  }
  return { name: 'price-days', tasks: [{ topics: [], idleMs: EVERY_MS, step }] }
}
