import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { createRecent } from '../async/cache.ts'
import { every } from '../async/timing.ts'
import { findLostOn } from '../books/rebuild/lost-log.ts'
import { recoverMessageSigner } from '../chains/evm/signatures.ts'
import type { ConnectedChain } from '../chains/families.ts'
import { DASHBOARD_POOL } from '../config/connections.ts'
import type { Config } from '../config.ts'
import { createGasWatch, type GasWatch } from '../engine/gas-watch.ts'
import type { Views } from '../engine/views.ts'
import { createKeyTable } from '../http/key-table.ts'
import { createOperator } from '../http/operator/operator.ts'
import { createOperatorKeys, createOperatorServer } from '../http/operator/server.ts'
import { createRateLimiter } from '../http/rate-limit.ts'
import { createServer } from '../http/server.ts'
import type { WebPage } from '../http/web/routes.ts'
import { mapOwn } from '../isolate.ts'
import { createMarket, type LiveMarket, toChainNow } from '../market/market.ts'
import { createStopTable } from '../market/stop-table.ts'
import { createDailyNeeds, followSwapTimes } from '../market/swap-times.ts'
import { type CallMeter, createCallMeter } from '../observe/call-meter.ts'
import type { Logger } from '../observe/logger.ts'
import { createMetrics } from '../observe/metrics.ts'
import { addProcessMetrics } from '../observe/process-metrics.ts'
import { addServiceMetrics } from '../observe/service-metrics.ts'
import type { BuildDeps } from '../stages/build/build-evm.ts'
import { findActiveKeys, findFrozen, leaseBudgets } from '../store/api-keys.ts'
import { readBooks } from '../store/books.ts'
import { createPool } from '../store/db.ts'
import { readLiquidity } from '../store/liquidity.ts'
import type { DatabaseProbe } from '../store/server.ts'
import { assertClock } from '../store/server.ts'
import { findActiveStops } from '../store/stops.ts'
import type { Catalog, Token } from '../swap/catalog.ts'
import { openCatalog, toServedChains } from './catalog.ts'
import { type Chains, connectChains } from './chains.ts'
import { type ApiParts, createHandlers, createVenues, isBought } from './handlers.ts'
import { createPriceSources, priceRulesOf, warnOfPyth, watchPrices } from './prices.ts'
import { assertOneTreasury, listenToDatabase, openDatabase, openSpans, verifyDatabase } from './process.ts'
import { createRegionReader, openScreening } from './screening.ts'
import { composeStatus } from './status.ts'
import { followCaps, followClaimLimits, openViews } from './views.ts'
import { loadWeb, toDashboard } from './web.ts'
import { composeWebhooks, createConfiguredSealer } from './webhooks.ts'

const MARKET_REFRESH_MS = 500
// The last hundred swaps of a route change slowly.
const SWAP_TIMES_MS = 10_000
const BOOKS_MS = 300_000

type Api = {
  app: FastifyInstance
  /** The operator's own server, if configured. */
  operator: FastifyInstance | undefined
  servesOnMs: number
  close(): Promise<void>
}

function connect({ network }: Config, calls: CallMeter): Chains {
  return connectChains({
    caller: 'api',
    calls,
    network,
    urlsOf: (chain) => chain.rpcUrls,
  })
}

/** The HTTP API with its dependencies. It holds no key that can move money. */
export async function composeApi(config: Config, logger: Logger): Promise<Api> {
  const { network } = config
  const { pool, onOpen } = openDatabase(config, 'api', logger)
  const calls = createCallMeter()
  const chains = connect(config, calls)
  await verifyDatabase(pool, { part: 'api', config, logger })
  await Promise.all([assertClock(pool), warnOfPyth(config, logger)])
  const findLost = (chain: ConnectedChain) => findLostOn(pool, chain)
  const { catalog, ...opening } = await openCatalog(network, chains, { logger, findLost })
  await assertOneTreasury(config, chains)
  const onFault = (error: unknown, source: string) => logger.warn({ err: error, source }, 'refresh failed')
  const views = openViews(pool, chains, { onFault: (error) => onFault(error, 'views') })
  await views.start()
  const served = toServedChains(network, chains.all)
  const gas = createGasWatch(served, views)
  const market = followMarket(config, { pool, chains, catalog, views, gas, onFault, logger })
  await market.start()
  const venues = createVenues({ network, views, catalog, market })
  const times = await startSwapTimes(pool, views, onFault)
  const { keys, stops, ...tables } = createTables(pool, onFault)
  const limiter = createRateLimiter({ leaseBudgets: (leases) => leaseBudgets(pool, leases) })
  const status = composeStatus(pool, (error) => onFault(error, 'status'))
  const metrics = createMetrics({ heldReads: status.heldCount })
  const database = addProcessMetrics(metrics.registry, { pool, calls, chains: network.chains })
  const watched = {
    pool,
    chains: served,
    catalog,
    gas,
    views,
    capsOf: market.capsOf,
    dailyNeeds: createDailyNeeds(pool),
    isBought: (token: Pick<Token, 'chainId' | 'address'>) => isBought(network, token),
  }
  const earnings = createRecent(BOOKS_MS, () => readBooks(pool, { days: 2 }))
  addServiceMetrics(metrics.registry, { ...watched, prices: market.prices, books: earnings })
  const screening = openScreening(config, {
    pool,
    chains,
    registry: metrics.registry,
    caller: 'api',
    onFault,
  })
  await Promise.all([tables.start(), screening?.start()])
  const listener = listenToDatabase(config, logger, {
    onOpen,
    channels: {
      swap_terminal: status.swapEnded,
      ...tables.channels,
      ...screening?.channels,
      ...views.channels,
    },
    onConnect: () => status.reads.setListening(true),
    onDisconnect: () => status.reads.setListening(false),
  })
  const spans = openSpans(config, 'api', logger)
  let isDraining = false
  const sealer = createConfiguredSealer(config.sealKeys)
  const webhooks = composeWebhooks({ network, pool, sealer, logger, registry: metrics.registry })
  await webhooks.start()
  const parts = {
    pool,
    chains,
    catalog,
    market,
    gas,
    views,
    venues,
    times,
    stops,
    screening,
    sealer,
    statusReads: status.reads,
    onFault,
  }
  const web = loadWeb(network.web, network.chains)
  const app = await createServer({
    handlers: createHandlers(config, parts),
    statusReads: status.reads,
    statusStreams: status.streams,
    keys,
    limiter,
    logger,
    metrics,
    spans,
    web,
    ready: async () => (isDraining ? { ok: false, checks: { draining: true } } : readiness(parts, database)),
    basePath: network.basePath,
    corsOrigins: network.corsOrigins,
    discovery: network.discovery,
    trustedProxies: config.trustedProxies,
    x402: network.x402,
    keyless: network.keyless && { ...network.keyless, recover: recoverMessageSigner },
    regionOf: createRegionReader(network),
  })
  const operator = await createOperatorListener(config, {
    watched: { ...watched, market, earnings },
    logger,
    web,
  })
  const close = async () => {
    isDraining = true
    await delay(config.drainMs)
    await Promise.all([app.close(), operator?.server.close()])
    await spans?.close()
    for (const each of [market, times, views, opening]) each.stop()
    tables.close()
    screening?.stop()
    await Promise.allSettled([listener.close(), limiter.close(), status.close(), webhooks.close()])
    await Promise.all([pool.end(), operator?.stopsPool.end()])
  }
  return { app, operator: operator?.server, servesOnMs: config.drainMs, close }
}

type OperatorParts = {
  watched: Omit<Parameters<typeof createOperator>[0], 'network' | 'stopsPool'>
  logger: Logger
  web: WebPage | undefined
}

async function createOperatorListener(config: Config, { watched, web, logger }: OperatorParts) {
  const { port, keys: secrets, databaseUrl } = config.operator
  if (port === 0 || !databaseUrl) return undefined
  const stopsPool = createPool(databaseUrl.reveal(), {
    max: DASHBOARD_POOL,
    applicationName: 'geoswap dashboard',
    isPooled: config.directDatabaseUrl !== undefined,
  })
  await verifyDatabase(stopsPool, { part: 'dashboard', config, logger })
  const keys = secrets.map((key) => key.reveal())
  // A user who can read the file of a local network may operate it.
  const localKey = config.network.web?.localFile === undefined ? undefined : keys[0]
  const server = await createOperatorServer({
    port: createOperator({ ...watched, stopsPool, network: config.network.network }),
    keys: createOperatorKeys(keys),
    logger,
    web: toDashboard(web, localKey),
  })
  return { server, stopsPool }
}

/** Tables in memory that requests are checked against without a query: active API keys and stops. */
function createTables(pool: BuildDeps['pool'], onFault: Followed['onFault']) {
  const keys = createKeyTable({
    findActiveKeys: () => findActiveKeys(pool),
    findFrozen: () => findFrozen(pool),
    onError: (e) => onFault(e, 'keys'),
  })
  const stops = createStopTable({
    findActiveStops: () => findActiveStops(pool),
    onError: (e) => onFault(e, 'stops'),
  })
  return {
    keys,
    stops,
    channels: {
      api_keys: () => void keys.refresh().catch((error) => onFault(error, 'keys')),
      quote_stops: () => void stops.refresh().catch((error) => onFault(error, 'stops')),
    },
    start: () => Promise.all([keys.start(), stops.start()]),
    close() {
      keys.close()
      stops.close()
    },
  }
}

type Followed = {
  pool: BuildDeps['pool']
  chains: Chains
  catalog: Catalog
  views: Views
  gas: GasWatch
  onFault(error: unknown, source: string): void
  logger: Logger
}

/** The market, refreshed from `start` on: first all sources together, then each in a loop of its own. */
function followMarket(config: Config, followed: Followed) {
  const { pool, chains, catalog, views, gas, onFault, logger } = followed
  const capsOf = followCaps({ chains, views, catalog, priceOf: (asset) => market.priceOf(asset) })
  const claims = followClaimLimits({ views, capsOf })
  const market: LiveMarket = createMarket({
    chainNow: (chainId) => toChainNow(views.of(chainId)),
    prices: createPriceSources(config, (chainId) => views.of(chainId).part('state')),
    priceRules: priceRulesOf(config),
    thinSpreadBps: config.network.thinSpreadBps,
    async readInventory() {
      const { holdings, ...booked } = await readLiquidity(pool)
      claims.take(booked)
      return holdings
    },
    canSend: (chainId, side) => (side === 'origin' ? gas.canLock(chainId) : gas.canDeliver(chainId)),
    needs: (chainId) => [...gas.unsigned(chainId), ...gas.needs(chainId)],
    mostInput: claims.mostInput,
    exposureRoom: claims.exposureRoom,
    fastRoom: claims.fastRoom,
    now: Date.now,
    onFault,
  })
  const watch = watchPrices(market.prices, logger)
  let loops: { stop(): void }[] = []
  return {
    ...market,
    capsOf,
    async start() {
      await mapOwn(market.refreshers, (refresh) => refresh())
      const steps = [...market.refreshers, async () => watch()]
      loops = steps.map((step) => every(MARKET_REFRESH_MS, async () => void (await step())))
    },
    stop() {
      for (const loop of loops) loop.stop()
    },
  }
}

async function startSwapTimes(pool: BuildDeps['pool'], views: Views, onFault: Followed['onFault']) {
  const { refresh, etaSecondsOf } = followSwapTimes(pool, views)
  const look = () => refresh().catch((error: unknown) => onFault(error, 'swap times'))
  await look()
  return { etaSecondsOf, stop: every(SWAP_TIMES_MS, look).stop }
}

type ReadyParts = Pick<ApiParts, 'catalog' | 'market' | 'gas'>

async function readiness({ catalog, market, gas }: ReadyParts, { isUp, hasRoom }: DatabaseProbe) {
  const [database, databaseRoom] = await Promise.all([isUp(), hasRoom()])
  const alive = [...catalog.chains.values()].map((chain) => [
    chain.name,
    market.chainNow(chain.chainId) !== undefined,
  ])
  const prices = [...catalog.assets.keys()].map((name) => [name, market.priceOf(name) !== undefined])
  const chainIds = [...catalog.chains.keys()]
  const checks = {
    database,
    databaseRoom,
    chains: Object.fromEntries(alive),
    prices: Object.fromEntries(prices),
    gas: chainIds.flatMap(gas.needs),
    signers: chainIds.flatMap(gas.unsigned),
  }
  // A chain or price that is down stops its own quotes, not the service.
  return { ok: database && databaseRoom && alive.some(([, isAlive]) => isAlive === true), checks }
}
