import { findLostOn } from '../books/rebuild/lost-log.ts'
import type { ConnectedChain } from '../chains/families.ts'
import type { Config } from '../config.ts'
import { priceDaysLane } from '../engine/price-days.ts'
import { retentionLane } from '../engine/retention.ts'
import { createLaneRunner } from '../engine/runner.ts'
import { createCallMeter } from '../observe/call-meter.ts'
import type { Logger } from '../observe/logger.ts'
import { createMetrics, type MetricsServer, serveMetrics } from '../observe/metrics.ts'
import { tracingLane } from '../observe/otlp.ts'
import { addProcessMetrics } from '../observe/process-metrics.ts'
import { addWorkerMetrics, createWorkerEvents } from '../observe/role-metrics.ts'
import type { DatabaseProbe } from '../store/server.ts'
import { findSigned } from '../store/signed.ts'
import type { Topic } from '../store/wakes.ts'
import { describeUnsigned, type ServedChain, type UnsignedKeys } from '../swap/served-chain.ts'
import { openCatalog, toServedChains } from './catalog.ts'
import { assertKeysFor, connectChains, signingAddresses } from './chains.ts'
import {
  assertOneTreasury,
  faultKindOf,
  listenToDatabase,
  openDatabase,
  openQuarantine,
  openSpans,
  verifyDatabase,
} from './process.ts'
import { openScreening } from './screening.ts'
import { openSigners } from './signers.ts'
import { openViews } from './views.ts'
import { lanesOf } from './worker-lanes.ts'
import { completeParts } from './worker-parts.ts'

type Worker = { start(): Promise<void>; close(): Promise<void> }

/** The worker: follows the chains, locks, delivers, claims, refunds. */
export async function composeWorker(config: Config, logger: Logger): Promise<Worker> {
  const { network } = config
  const { pool, onOpen } = openDatabase(config, 'worker', logger)
  const metrics = createMetrics()
  const signing = await openSigners(config, {
    addresses: signingAddresses(network),
    logger,
    registry: metrics.registry,
  })
  assertKeysFor(signingAddresses(network), signing.all)
  const calls = createCallMeter()
  const chains = connectChains({
    caller: 'worker',
    calls,
    network,
    signers: signing.byFamily,
    findSigned: (step, hashes) => findSigned(pool, step, hashes),
    urlsOf: (chain) => chain.rpcUrls,
  })
  await verifyDatabase(pool, { part: 'worker', config, logger })
  openQuarantine(pool, logger)
  await signing.start()
  const findLost = (chain: ConnectedChain) => findLostOn(pool, chain)
  const { catalog, ...opening } = await openCatalog(network, chains, { logger, findLost })
  await assertOneTreasury(config, chains)
  const wake = (topic: Topic) => runner.wake(topic)
  const views = openViews(pool, chains, {
    onHead: (chainId) => wake(`head:${chainId}`),
    onPrices: () => wake('prices'),
    onFault: (err) => logger.warn({ err }, 'reading views failed'),
  })
  const database = addProcessMetrics(metrics.registry, { pool, calls, chains: network.chains })
  const followers = network.chains.map(({ name, chainId }) => ({ chain: name, follower: views.of(chainId) }))
  const heldLanes = () => runner.heldCount()
  const counters = addWorkerMetrics(metrics.registry, {
    followers,
    heldLanes,
    isDatabaseUp: database.isUp,
  })
  const served = toServedChains(network, chains.all)
  const { unsigned } = signing
  const ready = createWorkerReady({ database, followers, heldLanes, served, unsigned })
  const events = createWorkerEvents(logger, counters)
  const spans = openSpans(config, 'worker', logger)
  const screening = openScreening(config, {
    pool,
    chains,
    registry: metrics.registry,
    caller: 'worker',
    onFault: (err, source) => logger.warn({ err, source }, 'screening failed'),
  })
  const given = { config, pool, chains, catalog, views, wake, logger, events, unsigned, screening }
  const parts = completeParts(given)
  const lanes = [
    ...chains.all.flatMap((chain) => lanesOf(parts, chain)),
    retentionLane(pool, logger, network),
    priceDaysLane({ pool, assets: network.assets.map(({ name }) => name), prices: parts.prices }),
  ]
  if (spans) lanes.push(tracingLane(pool, spans))
  const onFault = (error: unknown, lane: string) => {
    const [, id] = lane.split(':')
    const chain = network.chains.find(({ chainId }) => String(chainId) === id)?.name
    const place = { lane, chain }
    const kind = faultKindOf(error, 'lane')
    metrics.countFault(kind)
    if (kind === 'behind') logger.info(place, 'no backend has the newest block yet')
    else logger.warn({ err: error, ...place }, 'lane step failed')
  }
  const runner = createLaneRunner({ pool, lanes, leaseMs: network.leaseMs, onFault })
  const channels = {
    swap_work: (topic: string) => wake(topic as Topic),
    lanes: runner.onLaneNotification,
    ...views.channels,
    ...screening?.channels,
  }
  const listener = listenToDatabase(config, logger, { channels, onOpen })
  let server: MetricsServer | undefined
  return {
    async start() {
      await Promise.all([views.start(), screening?.start()])
      parts.prices.start()
      server = await serveMetrics(metrics.registry, config, ready)
      await runner.start()
    },
    async close() {
      opening.stop()
      screening?.stop()
      signing.stop()
      await runner.stop()
      await spans?.close()
      await server?.close()
      views.stop()
      parts.prices.stop()
      await listener.close()
      await pool.end()
    },
  }
}

type Options = {
  database: DatabaseProbe
  followers: readonly { chain: string; follower: { isLive(): boolean } }[]
  heldLanes(): number
  served: readonly ServedChain[]
  unsigned(): UnsignedKeys
}

/** The readiness of a worker: its database answers and has room, and it follows at least one chain. */
function createWorkerReady({ database: { isUp, hasRoom }, followers, heldLanes, served, unsigned }: Options) {
  return async () => {
    const [database, databaseRoom] = await Promise.all([isUp(), hasRoom()])
    const chains = followers.filter(({ follower }) => follower.isLive()).map(({ chain }) => chain)
    const signers = served.flatMap((chain) => describeUnsigned(chain, unsigned()))
    const checks = { database, databaseRoom, chains, lanes: heldLanes(), signers }
    return { ok: database && databaseRoom && chains.length > 0, checks }
  }
}
