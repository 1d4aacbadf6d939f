import { getAddress } from 'viem'
import type { Findings } from '../chains/findings.ts'
import type { ChainState } from '../chains/view.ts'
import type { AssetConfig, Config } from '../config.ts'
import type { Aged, Views } from '../engine/views.ts'
import { createPriceCheck, createPriceJudge } from '../market/price-check.ts'
import { createPriceBook, createPriceWatch, type FeedState, type PriceBook } from '../market/prices/book.ts'
import { createPythSource, findPythDifferences, withoutRenamed } from '../market/prices/pyth.ts'
import type { PriceRules } from '../market/prices/reference.ts'
import { createChainlinkSource, type PriceSource } from '../market/prices/source.ts'
import type { Logger } from '../observe/logger.ts'
import type { Catalog } from '../swap/catalog.ts'
import { groupBy } from '../swap/group.ts'
import { createBuyerCheck } from '../venues/registry.ts'

// Feeds are read at new blocks: on the slowest chains twice in this time.
const FEEDS_MS = 30_000
const DEFAULT_CONFIDENCE_BPS = 100

type PriceConfig = Pick<Config, 'network' | 'pythApiKey'>
type Feed<Kind> = Extract<AssetConfig['sources'][number], { kind: Kind }> & { asset: string }

type StateOf = (chainId: number) => Aged<ChainState> | undefined

/** All price sources: the view of each chain with feeds, and Pyth. */
export function createPriceSources(config: PriceConfig, stateOf: StateOf): PriceSource[] {
  const feeds = config.network.assets.flatMap(({ name, sources }) =>
    sources.map((source) => ({ ...source, asset: name })),
  )
  const onChains = feeds.filter((feed) => feed.kind === 'chainlink')
  const fromPyth = feeds.filter((feed) => feed.kind === 'pyth')
  return [
    ...[...groupBy(onChains, ({ chainId }) => chainId)].map(([id, each]) => chainlinkOf(stateOf, id, each)),
    ...pythOf(config, fromPyth),
  ]
}

function chainlinkOf(
  stateOf: StateOf,
  chainId: number,
  configured: readonly Feed<'chainlink'>[],
): PriceSource {
  const feeds = configured.map((feed) => ({ ...feed, address: getAddress(feed.address) }))
  const readRounds = async () => {
    const state = stateOf(chainId)
    if (!state || state.ageMs > FEEDS_MS) throw new Error(`The feeds of chain ${chainId} are outdated`)
    const { seconds, rounds } = state.value
    // Rounds age between readings.
    const now = BigInt(seconds + Math.floor(state.ageMs / 1_000))
    return { seconds: now, rounds: new Map(Object.entries(rounds)), asOf: state.asOf }
  }
  return createChainlinkSource({ chainId, feeds, readRounds })
}

function pythOf({ network, pythApiKey }: PriceConfig, configured: readonly Feed<'pyth'>[]): PriceSource[] {
  if (!network.pyth || configured.length === 0) return []
  const { url, pollMs } = network.pyth
  const feeds = configured.map((feed) => ({ maxConfidenceBps: DEFAULT_CONFIDENCE_BPS, ...feed }))
  const server = { url, apiKey: pythApiKey?.reveal() }
  const source = createPythSource({ ...server, feeds, pollMs, now: Date.now })
  return [withoutRenamed(source, { server, feeds, now: Date.now })]
}

/** Verifies that the feeds of Pyth belong to their assets. */
export async function verifyPyth({ network, pythApiKey }: PriceConfig): Promise<Findings> {
  const feeds = network.assets.flatMap(({ name, sources }) =>
    sources.flatMap((source) => (source.kind === 'pyth' ? [{ ...source, asset: name }] : [])),
  )
  if (!network.pyth) return { problems: [], warnings: [] }
  return findPythDifferences({ url: network.pyth.url, apiKey: pythApiKey?.reveal() }, feeds)
}

/** Names feeds of other assets, which give no price, and a server that does not answer. */
export async function warnOfPyth(config: PriceConfig, logger: Logger): Promise<void> {
  const { problems, warnings } = await verifyPyth(config)
  for (const warning of [...problems, ...warnings])
    logger.warn({ warning }, 'price source verification warning')
}

export function priceRulesOf({ network }: Pick<Config, 'network'>): Map<string, PriceRules> {
  return new Map(
    network.assets.map(({ name, maxDeviationBps, minSources }) => [name, { maxDeviationBps, minSources }]),
  )
}

/** Returns a check that logs when an asset loses its price, with the reason, and when it is back. */
export function watchPrices(book: PriceBook, logger: Logger): () => void {
  return createPriceWatch(book, ({ asset, state, feeds }) => {
    if (state === 'available') return logger.info({ asset }, 'price is back')
    logger.warn({ asset, why: state, feeds: Object.fromEntries(feeds.map(describe)) }, 'no price')
  })
}

const describe = ({ feed, price, problem }: FeedState) => [feed, problem ?? `${price}e-18 USD`] as const

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
    tolerance: network.priceTolerance,
    thinSpreadBps: network.thinSpreadBps,
    isBuyer: createBuyerCheck(network),
  }
}
