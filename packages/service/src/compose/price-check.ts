import type { Config } from '../config.ts'
import type { Views } from '../lanes/views.ts'
import { createPriceCheck, createPriceJudge } from '../market/price-check.ts'
import { createPriceBook, type PriceBook } from '../market/prices/book.ts'
import type { Catalog } from '../model/catalog.ts'
import { defaultPriceTolerance } from '../model/price-tolerance.ts'
import type { Logger } from '../observe/logger.ts'
import { createBuyerCheck } from '../venues/registry.ts'
import { createPriceSources, priceRulesOf, thinSpreadOf, watchPrices } from './prices.ts'

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
  return createPriceCheck({ ...rulesOf(config), catalog, book, onRead: watchPrices(book, logger) })
}

/** The same judgement in the API, by the prices that it quotes from. */
export function judgePrices(config: Pick<Config, 'network'>, catalog: Catalog, book: PriceBook) {
  return createPriceJudge({ ...rulesOf(config), catalog, book })
}

function rulesOf({ network }: Pick<Config, 'network'>) {
  return {
    tolerance: { ...defaultPriceTolerance, ...network.priceTolerance },
    thinSpreadBps: thinSpreadOf(network),
    isBuyer: createBuyerCheck(network),
  }
}
