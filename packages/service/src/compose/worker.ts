import type { Pool } from 'pg'
import type { Address } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { Heads } from '../chains/chain.ts'
import { type Config, defaultDeadlines, defaultExposureCapUsd } from '../config.ts'
import { confirmDestination } from '../flow/deliver/confirm-delivery.ts'
import { type DeliverDeps, deliverLocked, redeliverStalled } from '../flow/deliver/deliver.ts'
import { confirmOrigin } from '../flow/execute/confirm-lock.ts'
import { lockWaiting } from '../flow/execute/lock.ts'
import { retryStalledLocks } from '../flow/execute/retry-lock.ts'
import { createWaitingLocks } from '../flow/execute/waiting-locks.ts'
import { type RelayDeps, relayAttested } from '../flow/settle/relay.ts'
import { createHeadFollower, type HeadFollower } from '../lanes/head-follower.ts'
import { createLaneRunner, type Lane } from '../lanes/runner.ts'
import { createSender } from '../lanes/sender.ts'
import { createSendingLane } from '../lanes/sending.ts'
import { topUpLowest } from '../lanes/top-up.ts'
import { createWatchLane } from '../lanes/watch.ts'
import { createPriceBook } from '../market/prices/book.ts'
import type { Catalog } from '../model/catalog.ts'
import type { Share } from '../model/group.ts'
import { USUAL_TOLERANCE_BPS } from '../model/pricing.ts'
import type { Swap } from '../model/swap.ts'
import type { Logger } from '../observe/logger.ts'
import { createMetrics } from '../observe/metrics.ts'
import { type MetricsServer, showMetrics } from '../observe/metrics-server.ts'
import { createPool } from '../store/db.ts'
import { LANES_CHANNEL, type Lease } from '../store/lanes.ts'
import { findSigned } from '../store/signed.ts'
import { findToLock } from '../store/swaps.ts'
import {
  activeOf,
  assertKeysFor,
  type Chains,
  type ConnectedChain,
  connectChains,
  loadCatalog,
  signingAddresses,
} from './chains.ts'
import { createClaimCheck } from './claim-check.ts'
import { listenToDatabase, verifyDatabase } from './database.ts'
import { floatOf } from './gas.ts'
import { maxHeadAgeMs } from './head-age.ts'
import { createLedgerTask } from './ledger.ts'
import { findLostOn } from './lost-log.ts'
import { openChains } from './open-chains.ts'
import { createPriceCheck } from './price-check.ts'
import { createPriceSources, priceRulesOf, watchPrices } from './prices.ts'
import { createOrphanTask } from './rebuild.ts'
import { retentionLane } from './retention.ts'
import { createSigners } from './solana.ts'
import { atMostEvery } from './timing.ts'
import { openSpans, tracingLane } from './traces.ts'
import { addWorkerMetrics, type WorkerCounters } from './worker-metrics.ts'

export type Worker = { start(): Promise<void>; close(): Promise<void> }

type Parts = {
  config: Config
  pool: Pool
  chains: Chains
  catalog: Catalog
  followers: ReadonlyMap<number, HeadFollower>
  prices: ReturnType<typeof createPriceCheck>
  logger: Logger
  counters: WorkerCounters
}

const PATIENCE_SECONDS = 60
// Gas lasts for days: balances need not be read with every block.
const GAS_LOOK_MS = 5_000
// More than a batch, so that swaps that wait for something do not hold up the rest.
const FETCHED_LOCKS = 40

/** The worker: follows the chains, locks, delivers, claims, refunds. */
export async function composeWorker(config: Config, logger: Logger): Promise<Worker> {
  const { network } = config
  const pool = createPool(config.databaseUrl.reveal(), { max: 20, applicationName: 'geoswap worker' })
  const accounts = accountsOf(config)
  const signers = await createSigners(config.solanaKeys)
  assertKeysFor(signingAddresses(network), [...accounts, ...signers])
  const chains = connectChains({
    ...{ caller: 'worker', network, accounts, signers, markerKey: config.markerKey },
    findSigned: (step, hashes) => findSigned(pool, step, hashes),
    urlsOf: (chain) => chain.rpcUrls,
  })
  await verifyDatabase(pool, logger)
  const opening = await openChains(chains, { logger, findLost: (chain) => findLostOn(pool, chain) })
  const catalog = await loadCatalog(network, chains)
  const wake = (topic: string) => runner.wake(topic)
  const followers = new Map(
    chains.all.map((chain) => [chain.config.chainId, followHead(chain, wake, logger)]),
  )
  const prices = followPrices({ config, chains, catalog, followers, logger })
  const metrics = createMetrics()
  const counters = addWorkerMetrics(metrics.registry, {
    followers: [...followers].map(([chainId, follower]) => ({
      chain: chains.of(chainId).config.name,
      follower,
    })),
    heldLanes: () => runner.heldCount(),
  })
  const spans = openSpans(config, 'worker', logger)
  const parts: Parts = { config, pool, chains, catalog, followers, prices, logger, counters }
  const lanes = chains.all.flatMap((chain) => lanesOf(parts, chain))
  lanes.push(retentionLane(pool, logger, network.eventDays))
  if (spans) lanes.push(tracingLane(pool, spans))
  const onFault = (error: unknown, lane: string) => {
    logger.warn({ err: error, lane }, 'lane step failed')
    metrics.countFault('lane')
  }
  const { leaseMs } = network
  const runner = createLaneRunner({ pool, lanes, onFault, ...(leaseMs !== undefined && { leaseMs }) })
  const channels = { swap_work: wake, [LANES_CHANNEL]: runner.hear }
  const listener = listenToDatabase(config, logger, { channels })
  let server: MetricsServer | undefined
  return {
    async start() {
      for (const follower of followers.values()) follower.start()
      prices.start()
      server = await showMetrics(metrics.registry, config)
      await runner.start()
    },
    async close() {
      opening.stop()
      await runner.stop()
      await spans?.close()
      await server?.close()
      for (const follower of followers.values()) follower.stop()
      prices.stop()
      await listener.close()
      await pool.end()
    },
  }
}

function accountsOf({ relayerKeys, delivererKeys, floatKey }: Config) {
  const keys = [...relayerKeys, ...delivererKeys, ...(floatKey ? [floatKey] : [])]
  return keys.map((key) => privateKeyToAccount(key.reveal() as Address))
}

function followHead(
  { config, chain }: ConnectedChain,
  wake: (topic: string) => void,
  logger: Logger,
): HeadFollower {
  return createHeadFollower({
    chainId: config.chainId,
    readHeads: (known) => chain.readHeads(known),
    blockMs: config.blockMs,
    maxAgeMs: maxHeadAgeMs(config),
    onHead: () => wake(`head:${config.chainId}`),
    onFault: (err) => logger.warn({ err, chain: config.name }, 'node does not answer'),
  })
}

function followPrices(parts: Omit<Parts, 'pool' | 'prices' | 'counters'>): Parts['prices'] {
  const { config, chains, catalog, followers, logger } = parts
  const liveAt = (chainId: number) => {
    const follower = followers.get(chainId)
    return follower?.isLive() ? follower : undefined
  }
  const book = createPriceBook({
    sources: createPriceSources(config, chains),
    rules: priceRulesOf(config),
    isLive: (chainId) => liveAt(chainId) !== undefined,
    now: Date.now,
    onFault: (err, source) => logger.warn({ err, source }, 'price source does not answer'),
  })
  const headOf = (chainId: number) => liveAt(chainId)?.current()?.head.hash
  const toleranceBps = config.network.priceToleranceBps ?? USUAL_TOLERANCE_BPS
  return createPriceCheck({ catalog, book, toleranceBps, headOf, onRead: watchPrices(book, logger) })
}

function lanesOf(parts: Parts, chain: ConnectedChain): Lane[] {
  const { relay, authorize, deliver } = chain.senders
  const lanes = [
    watchLane(parts, chain),
    ...relay.map((address) => relayLane(parts, chain, address, shareOf(activeOf(chain, 'relay'), address))),
    ...authorize.map((address) => relayLane(parts, chain, address)),
    ...topUpLanes(parts, chain),
    ...deliver.map((address) =>
      deliverLane(parts, chain, address, shareOf(activeOf(chain, 'deliver'), address)),
    ),
  ]
  return lanes.map((lane) => ({ ...lane, isOpen: () => chain.gate.isOpen }))
}

/** The float's own lane: it watches the gas of all other keys. */
function topUpLanes(parts: Parts, connected: ConnectedChain): Lane[] {
  const float = floatOf(parts.config.network, connected)
  if (!float) return []
  const { pool } = parts
  const { chain, config, senders, nativeToken } = connected
  const sender = senderOf(parts, connected, float.address)
  const keys = [...new Set(Object.values(senders).flat())]
  const deps = { ...{ pool, chain, sender, keys, limits: float.limits }, nativeToken: nativeToken.address }
  const look = atMostEvery(GAS_LOOK_MS, (lease: Lease, heads: Heads) => topUpLowest(deps, lease, heads))
  return [
    createSendingLane({
      name: `topup:${config.chainId}:${float.address}`,
      ...{ sender, follower: followerOf(parts, config.chainId) },
      retryStalled: async () => {},
      works: [{ topics: [], run: async (lease, heads) => heads && look(lease, heads) }],
    }),
  ]
}

/** Undefined for a key that is being retired: it follows up on what it sent, and takes nothing that others can do. */
function shareOf(active: readonly string[], address: string): Share | undefined {
  const index = active.indexOf(address)
  return index < 0 ? undefined : { index, of: active.length }
}

function followerOf({ followers }: Parts, chainId: number): HeadFollower {
  const follower = followers.get(chainId)
  if (!follower) throw new Error(`Chain ${chainId} is not followed`)
  return follower
}

function senderOf(parts: Parts, { chain, config }: ConnectedChain, address: string) {
  const { pool, logger, counters } = parts
  return createSender({
    pool,
    chain,
    address,
    maxInFlight: config.maxInFlight ?? 16,
    isClaimable: createClaimCheck(parts),
    onSent(sent) {
      logger.info({ chain: config.name, ...sent }, 'sent')
      counters.countSent(config.name, sent.role)
    },
    onSendFault: (err, txHash) => logger.warn({ err, chain: config.name, txHash }, 'send not confirmed'),
    onRefused(reason, txHash) {
      logger.warn({ chain: config.name, address, txHash, reason }, 'every node refused')
      counters.countRefused(config.name, reason)
    },
    onReplaced({ attempt: { txHash, role, replacement }, swapIds, by }) {
      logger.info({ chain: config.name, swapIds, txHash, by, role, replacement }, 'replaced')
      counters.countReplaced(config.name)
    },
  })
}

function logMove(logger: Logger, name: string) {
  return (swap: Swap, detail?: string) => logger.info({ swapId: swap.id, state: swap.state, detail }, name)
}

function watchLane(parts: Parts, connected: ConnectedChain): Lane {
  const { pool, logger } = parts
  const { chain, config } = connected
  const senders = Object.values(connected.senders).flat()
  const follower = followerOf(parts, config.chainId)
  const reorgSeconds = (config.finality.hard * config.blockMs) / 1_000
  const originDeps = { pool, origin: chain, reorgSeconds, onMoved: logMove(logger, 'origin') }
  const destinationDeps = {
    ...{ pool, destination: chain, reorgSeconds },
    originOf: (chainId: number) => parts.chains.of(chainId).chain,
    onSettled: logMove(logger, 'settled'),
    onRefundDecided: logMove(logger, 'refund decided'),
  }
  const lane = createWatchLane({
    ...{ pool, chain, follower, senders },
    confirmOrigin: (heads) => confirmOrigin(originDeps, heads),
    confirmDestination: (lease, heads) => confirmDestination(destinationDeps, lease, heads),
  })
  const books = createLedgerTask(parts, connected, follower)
  const orphans = createOrphanTask({ ...parts, network: parts.config.network }, config.chainId)
  return { ...lane, tasks: [...lane.tasks, books, orphans] }
}

/** Without a share it locks what was given to its key, and leaves claims and refunds to others. */
function relayLane(parts: Parts, connected: ConnectedChain, address: string, share?: Share): Lane {
  const { pool, prices, logger } = parts
  const { chain, config } = connected
  const sender = senderOf(parts, connected, address)
  const batchSize = connected.senders.authorize.includes(address) ? 1 : chain.maxBatch
  const deps = {
    ...{ pool, sender, origin: chain, batchSize, refreshPrices: prices.refresh },
    ...{ isPriceKept: prices.isKept, valueCentsOf: prices.valueCentsOf },
    destinationOf: (chainId: number) => parts.chains.of(chainId).chain,
    isLive: (chainId: number) => followerOf(parts, chainId).isLive(),
    isGone: (chainId: number) => followerOf(parts, chainId).downSeconds() > PATIENCE_SECONDS,
    onDeclined: logMove(logger, 'failed'),
  }
  // Where a transaction carries one swap, several are got ready at once: none waits for the one before it.
  const [atOnce, takeSize] = batchSize === 1 ? [4, 1] : [1, FETCHED_LOCKS]
  const waiting = createWaitingLocks({
    ...{ takeSize, limit: FETCHED_LOCKS },
    find: (limit) => findToLock(pool, { chainId: config.chainId, locker: address, limit }),
  })
  return createSendingLane({
    name: `relay:${config.chainId}:${address}`,
    sender,
    follower: followerOf(parts, config.chainId),
    retryStalled: (lease, heads) => retryStalledLocks(deps, lease, heads),
    works: [
      ...Array.from({ length: atOnce }, () => ({
        topics: [`lock:${config.chainId}:${address}`],
        run: async (lease: Lease, heads?: Heads) => heads && lockWaiting(deps, lease, heads, waiting),
      })),
      ...(share === undefined ? [] : [relayWork(config.chainId, { ...deps, share })]),
    ],
  })
}

function relayWork(chainId: number, deps: RelayDeps) {
  return {
    topics: [`relay:${chainId}`],
    run: async (lease: Lease, heads?: Heads) => heads && relayAttested(deps, lease, heads),
  }
}

const onlyFollowing = { retryStalled: async () => {}, works: [] }

function deliverWork(chainId: number, deps: DeliverDeps) {
  const deliver = (lease: Lease, heads?: Heads) => deliverLocked(deps, lease, heads)
  return {
    retryStalled: (lease: Lease, heads: Heads) => redeliverStalled(deps, lease, heads),
    works: [{ topics: [`deliver:${chainId}`], run: deliver }],
  }
}

function deliverLane(parts: Parts, connected: ConnectedChain, address: string, share?: Share): Lane {
  const { pool, prices, logger, config } = parts
  const { chain } = connected
  const { chainId } = connected.config
  const sender = senderOf(parts, connected, address)
  const follower = followerOf(parts, chainId)
  const deps = {
    ...{
      pool,
      sender,
      destination: chain,
      originOf: (chainId: number) => parts.chains.of(chainId).chain,
      isVerified: (chainId: number) => parts.chains.of(chainId).gate.isOpen,
      isLive: follower.isLive,
      downSeconds: follower.downSeconds,
      isClaimable: createClaimCheck(parts),
    },
    ...{ refreshPrices: prices.refresh, isPriceKept: prices.isKept, patienceSeconds: PATIENCE_SECONDS },
    cutOffSeconds: config.network.deadlines?.cutOffSeconds ?? defaultDeadlines.cutOffSeconds,
    exposureCapCents: (origin: number) =>
      BigInt(parts.chains.of(origin).config.exposureCapUsd ?? defaultExposureCapUsd) * 100n,
    onRefundDecided: logMove(logger, 'refund decided'),
  }
  return createSendingLane({
    name: `deliver:${chainId}:${address}`,
    ...{ sender, follower },
    ...(share === undefined ? onlyFollowing : deliverWork(chainId, { ...deps, share })),
  })
}
