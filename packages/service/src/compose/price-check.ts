import type { Config } from '../config.ts'
import type { Views } from '../lanes/views.ts'
import { createPriceCheck } from '../market/price-check.ts'
import { createPriceBook } from '../market/prices/book.ts'
import type { Catalog } from '../model/catalog.ts'
import { USUAL_TOLERANCE_BPS } from '../model/pricing.ts'
import type { Logger } from '../observe/logger.ts'
import { createBuyerCheck } from '../venues/registry.ts'
import { createPriceSources, priceRulesOf, watchPrices } from './prices.ts'

type Parts = { config: Config; catalog: Catalog; views: Views; logger: Logger }

export type PriceCheck = ReturnType<typeof createPriceCheck>

/** The prices by which a worker checks a swap again before it locks and delivers. */
export function followPrices({ config, catalog, views, logger }: Parts): PriceCheck {
  const book = createPriceBook({
    sources: createPriceSources(config, (chainId) => views.of(chainId).part('state')),
    rules: priceRulesOf(config),
    isLive: (chainId) => views.of(chainId).isLive(),
    now: Date.now,
    onFault: (err, source) => logger.warn({ err, source }, 'price source does not answer'),
  })
  const toleranceBps = config.network.priceToleranceBps ?? USUAL_TOLERANCE_BPS
  const isBuyer = createBuyerCheck(config.network)
  return createPriceCheck({ catalog, book, toleranceBps, isBuyer, onRead: watchPrices(book, logger) })
}
