import type { Pool } from 'pg'
import { atMostEvery } from '../async/timing.ts'
import type { Heads } from '../chains/chain.ts'
import { connectionsOf } from '../config/connections.ts'
import { finalityOf } from '../config/finality.ts'
import { type Config, defaultDeadlines } from '../config.ts'
import { confirmDeliveries, finalizeDeliveries } from '../flow/deliver/confirm-delivery.ts'
import { type DeliverDeps, deliverLocked, redeliverStalled } from '../flow/deliver/deliver.ts'
import { confirmLocks } from '../flow/execute/confirm-lock.ts'
import { finalizeOrigin } from '../flow/execute/finalize-origin.ts'
import { lockWaiting } from '../flow/execute/lock.ts'
import { retryStalledLocks } from '../flow/execute/retry-lock.ts'
import { undoLocks } from '../flow/execute/undo-lock.ts'
import { createWaitingLocks } from '../flow/execute/waiting-locks.ts'
import type { CollectDeps } from '../flow/settle/collect.ts'
import { type RelayDeps, relayAttested } from '../flow/settle/relay.ts'
import { createClaimCheck, createLateCheck } from '../lanes/claim-check.ts'
import { createGasWatch, type GasWatch } from '../lanes/gas-watch.ts'
import type { Lane } from '../lanes/lane.ts'
import { retentionLane } from '../lanes/retention.ts'
import { createLaneRunner } from '../lanes/runner.ts'
import { overlapOf } from '../lanes/scan.ts'
import { createSender } from '../lanes/sender.ts'
import { createSendingLane } from '../lanes/sending.ts'
import type { SignedCheck } from '../lanes/signed-check.ts'
import { createTimeKeeper } from '../lanes/time-keeper.ts'
import { topUpLowest } from '../lanes/top-up.ts'
import type { ViewOfChain, Views } from '../lanes/views.ts'
import { createWatchLane } from '../lanes/watch.ts'
import type { Catalog } from '../model/catalog.ts'
import type { Share } from '../model/group.ts'
import { shareOf } from '../model/key-share.ts'
import { activeSenders, sendersOf } from '../model/served-chain.ts'
import type { Swap } from '../model/swap.ts'
import type { UnsignedKeys } from '../model/unsigned-keys.ts'
import { createCallMeter } from '../observe/call-meter.ts'
import type { Logger } from '../observe/logger.ts'
import { createMetrics } from '../observe/metrics.ts'
import { type MetricsServer, showMetrics } from '../observe/metrics-server.ts'
import { addProcessMetrics } from '../observe/process-metrics.ts'
import { tracingLane } from '../observe/trace-lane.ts'
import { createWorkerEvents, type WorkerEvents } from '../observe/worker-events.ts'
import { addWorkerMetrics } from '../observe/worker-metrics.ts'
import { findLostOn } from '../rebuild/lost-log.ts'
import { createPool } from '../store/db.ts'
import { markOriginSafe } from '../store/exposure.ts'
import { LANES_CHANNEL, type Lease } from '../store/lanes.ts'
import { findSigned } from '../store/signed.ts'
import { findToLock } from '../store/swaps.ts'
import { assertKeysFor, type Chains, connectChains, loadCatalog, signingAddresses } from './chains.ts'
import type { ConnectedChain } from './connected-chain.ts'
import { listenToDatabase, verifyDatabase } from './database.ts'
import { createDepositTask, createRecoverWork } from './deposits.ts'
import { createFollowing } from './following.ts'
import { createGasTask, createLedgerTask } from './ledger.ts'
import { openChains } from './open-chains.ts'
import { followPrices, type PriceCheck } from './price-check.ts'
import { createOrphanTask } from './rebuild.ts'
import { createRecoverSigner } from './recover-signer.ts'
import { capsOf, floatOf, toServedChains } from './served-chains.ts'
import { createSettleTasks } from './settle-tasks.ts'
import { checkSigned } from './signed.ts'
import { openSigners } from './signers.ts'
import { createSigners } from './solana.ts'
import { sweepWork } from './sweep-work.ts'
import { openSpans } from './traces.ts'
import { assertOneTreasury } from './treasury-check.ts'
import { openViews } from './views.ts'
import { createWorkerReady } from './worker-ready.ts'

type Worker = { start(): Promise<void>; close(): Promise<void> }

type Parts = {
  config: Config
  pool: Pool
  chains: Chains
  catalog: Catalog
  followers: ReadonlyMap<number, ViewOfChain>
  views: Views
  wake(topic: string): void
  prices: PriceCheck
  signed: SignedCheck
  collect: CollectDeps
  gas: Pick<GasWatch, 'canSend'>
  unsigned(): UnsignedKeys
  logger: Logger
  events: WorkerEvents
  /** Whether a delivery's input can be claimed in time, and whether a chain's finality is too slow. */
  isClaimable: ReturnType<typeof createClaimCheck>
  isLate: ReturnType<typeof createLateCheck>
}

const PATIENCE_SECONDS = 60
// Gas lasts for days: balances need not be read with every block.
const GAS_LOOK_MS = 5_000
// More than a batch, so that blocked swaps do not hold up the rest.
const FETCHED_LOCKS = 40

/** The worker: follows the chains, locks, delivers, claims, refunds. */
export async function composeWorker(config: Config, logger: Logger): Promise<Worker> {
  const { network } = config
  const max = connectionsOf(network).workerPool
  const pool = createPool(config.databaseUrl.reveal(), { max, applicationName: 'geoswap worker' })
  const metrics = createMetrics()
  const { all: accounts, ...evmSigners } = openSigners(config, {
    ...{ addresses: signingAddresses(network), keys: keysOf(config) },
    ...{ logger, registry: metrics.registry },
  })
  const signers = await createSigners(config.solanaKeys)
  assertKeysFor(signingAddresses(network), [...accounts, ...signers])
  const calls = createCallMeter()
  const chains = connectChains({
    ...{ caller: 'worker', calls, network, accounts, signers },
    findSigned: (step, hashes) => findSigned(pool, step, hashes),
    urlsOf: (chain) => chain.rpcUrls,
  })
  await verifyDatabase(pool, { part: 'worker', network, logger })
  await evmSigners.start()
  const opening = await openChains(chains, { logger, findLost: (chain) => findLostOn(pool, chain) })
  await assertOneTreasury(config, chains)
  const catalog = await loadCatalog(network, chains)
  const wake = (topic: string) => runner.wake(topic)
  const views = openViews(pool, chains, {
    onHead: (chainId) => wake(`head:${chainId}`),
    onFault: (err) => logger.warn({ err }, 'reading views failed'),
  })
  const isDatabaseUp = addProcessMetrics(metrics.registry, { pool, calls, chains: network.chains })
  const followers = network.chains.map(({ name, chainId }) => ({ chain: name, follower: views.of(chainId) }))
  const heldLanes = () => runner.heldCount()
  const counters = addWorkerMetrics(metrics.registry, { followers, heldLanes, isDatabaseUp })
  const served = toServedChains(network, chains.all)
  const { unsigned } = evmSigners
  const ready = createWorkerReady({ isDatabaseUp, followers, heldLanes, served, unsigned })
  const events = createWorkerEvents(logger, counters)
  const spans = openSpans(config, 'worker', logger)
  const parts = completeParts({ config, pool, chains, catalog, views, wake, logger, events, unsigned })
  const lanes = [
    ...chains.all.flatMap((chain) => lanesOf(parts, chain)),
    retentionLane(pool, logger, network.eventDays),
  ]
  if (spans) lanes.push(tracingLane(pool, spans))
  const onFault = (error: unknown, lane: string) => {
    const [, id] = lane.split(':')
    const chain = network.chains.find(({ chainId }) => String(chainId) === id)?.name
    logger.warn({ err: error, lane, ...(chain && { chain }) }, 'lane step failed')
    metrics.countFault('lane')
  }
  const { leaseMs } = network
  const runner = createLaneRunner({ pool, lanes, onFault, ...(leaseMs !== undefined && { leaseMs }) })
  const channels = { swap_work: wake, [LANES_CHANNEL]: runner.onLaneNotification, ...views.channels }
  const listener = listenToDatabase(config, logger, { channels })
  let server: MetricsServer | undefined
  return {
    async start() {
      await views.start()
      parts.prices.start()
      server = await showMetrics(metrics.registry, config, ready)
      await runner.start()
    },
    async close() {
      opening.stop()
      evmSigners.stop()
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

type Given = Omit<Parts, 'followers' | 'prices' | 'signed' | 'collect' | 'gas' | 'isClaimable' | 'isLate'>

/** Adds heads, prices and gas from the chains' views, and the checks of signatures and claims. */
function completeParts(given: Given): Parts {
  const { config, pool, chains, catalog, views, events } = given
  const followers = new Map(chains.all.map(({ config: { chainId } }) => [chainId, views.of(chainId)]))
  const prices = followPrices(given)
  const gas = createGasWatch(toServedChains(config.network, chains.all), views)
  const signed = checkSigned(pool, chains, events.unsigned)
  const collect = { recoverSigner: createRecoverSigner(chains), onRejected: events.signatureRejected }
  const deadlines = { ...defaultDeadlines, ...config.network.deadlines }
  const isClaimable = createClaimCheck({ deadlines, catalog, followers })
  const isLate = createLateCheck({ catalog, followers })
  return { ...given, followers, prices, signed, collect, gas, isClaimable, isLate }
}

function keysOf({ relayerKeys, delivererKeys, floatKey }: Config) {
  return [...relayerKeys, ...delivererKeys, ...(floatKey ? [floatKey] : [])]
}

function lanesOf(parts: Parts, chain: ConnectedChain): Lane[] {
  const { relay, authorize, deliver } = chain.senders
  const lanes = [
    watchLane(parts, chain),
    ...relay.map((address) => relayLane(parts, chain, address, relayShareOf(chain, address))),
    ...authorize.map((address) => relayLane(parts, chain, address)),
    ...topUpLanes(parts, chain),
    ...deliver.map((address) => deliverLane(parts, chain, address)),
  ]
  return lanes.map((lane) => ({ ...lane, isOpen: () => chain.gate.isOpen }))
}

/** The gas float's own lane, which tops up all other keys. */
function topUpLanes(parts: Parts, connected: ConnectedChain): Lane[] {
  const float = floatOf(parts.config.network, connected)
  if (!float) return []
  const { pool } = parts
  const { chain, config, nativeToken } = connected
  const sender = senderOf(parts, connected, float.address)
  const keys = sendersOf(connected)
  const view = followerOf(parts, config.chainId)
  const deps = {
    ...{ pool, chain, sender, keys, limits: float.limits },
    nativeToken: nativeToken.address,
    balanceOf: (key: string) => view.part('state')?.value.balances[key],
  }
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

/** Undefined for a retiring key: it follows up on its transactions, and leaves other work to active keys. */
function relayShareOf(chain: ConnectedChain, address: string): Share | undefined {
  return shareOf({ active: activeSenders(chain, 'relay'), address, canSend: () => true })
}

function followerOf({ followers }: Pick<Parts, 'followers'>, chainId: number): ViewOfChain {
  const follower = followers.get(chainId)
  if (!follower) throw new Error(`Chain ${chainId} is not followed`)
  return follower
}

function senderOf(parts: Parts, { chain, config }: ConnectedChain, address: string) {
  const { pool, events, isClaimable } = parts
  return createSender({
    pool,
    chain,
    address,
    maxInFlight: config.maxInFlight ?? 16,
    isClaimable,
    ...events.ofSender(config.name, address),
  })
}

function watchLane(parts: Parts, connected: ConnectedChain): Lane {
  const { pool, events } = parts
  const { chain, config } = connected
  const senders = Object.values(connected.senders).flat()
  const follower = followerOf(parts, config.chainId)
  const rules = finalityOf(config)
  const times = createTimeKeeper(pool, (chainId) => finalityOf(parts.chains.of(chainId).config))
  const onMoved = events.originMoved
  const originDeps = { pool, origin: chain, rules, onMoved }
  const destinationDeps = {
    pool,
    destination: chain,
    rules,
    finalitySeconds: () => follower.measured().finalitySeconds,
    originOf: (chainId: number) => parts.chains.of(chainId).chain,
    onSettled(swap: Swap) {
      events.settled(swap)
      times.note(swap)
    },
    onRefundDecided: events.refundDecided,
  }
  const lane = createWatchLane({
    pool,
    chain,
    follower,
    senders,
    overlap: overlapOf(config),
    undo: (db, gone) => undoLocks(db, gone, onMoved),
    confirmLocks: (heads) => confirmLocks(originDeps, heads),
    confirmDeliveries: (lease, heads) => confirmDeliveries(destinationDeps, lease, heads),
    finalizeOrigin: (heads, events, faults) => finalizeOrigin(originDeps, heads, events, faults),
    finalizeDeliveries: (heads, events, faults) => finalizeDeliveries(destinationDeps, heads, events, faults),
    onSafe: (after, upTo) => markOriginSafe(pool, { chainId: config.chainId, after, upTo }),
  })
  const settling = createSettleTasks({
    ...{ pool, chain, current: follower.current },
    ...parts.collect,
    ...parts.signed,
  })
  const books = [createLedgerTask(parts, connected, follower), createGasTask(parts, connected, follower)]
  const orphans = createOrphanTask({ ...parts, network: parts.config.network }, config.chainId)
  return {
    ...lane,
    tasks: [
      ...[...createFollowing(parts, connected), ...lane.tasks, ...books, orphans, ...settling, times.task],
      createDepositTask(parts, connected, { follower, onMoved }),
    ],
  }
}

/** Without a share, the lane locks the inputs assigned to its key and leaves claims and refunds to others. */
function relayLane(parts: Parts, connected: ConnectedChain, address: string, share?: Share): Lane {
  const { pool, prices, events } = parts
  const { chain, config } = connected
  const sender = senderOf(parts, connected, address)
  const view = followerOf(parts, config.chainId)
  const batchSize = connected.senders.authorize.includes(address) ? 1 : chain.maxBatch
  const deps = {
    ...{ pool, sender, origin: chain, batchSize, refreshPrices: prices.refresh },
    ...{ isPriceKept: prices.isKept, valueCentsOf: prices.valueCentsOf, ...parts.signed, ...parts.collect },
    destinationOf: (chainId: number) => parts.chains.of(chainId).chain,
    isLive: (chainId: number) => followerOf(parts, chainId).isLive(),
    isGone: (chainId: number) => followerOf(parts, chainId).downSeconds() > PATIENCE_SECONDS,
    isLate: parts.isLate,
    onDeclined: events.declined,
  }
  // If a transaction carries one swap, several are prepared concurrently.
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
      ...(share?.index === 0 ? [createRecoverWork(parts, connected, { sender, view })] : []),
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

function deliverWork(chainId: number, deps: DeliverDeps, { solana }: ConnectedChain) {
  const deliver = (lease: Lease, heads?: Heads) => deliverLocked(deps, lease, heads)
  return {
    retryStalled: (lease: Lease, heads: Heads) => redeliverStalled(deps, lease, heads),
    works: [
      { topics: [`deliver:${chainId}`], run: deliver },
      ...(solana ? [sweepWork(chainId, deps, solana)] : []),
    ],
  }
}

function deliverLane(parts: Parts, connected: ConnectedChain, address: string): Lane {
  const { pool, prices, events, config } = parts
  const { chain } = connected
  const { chainId } = connected.config
  const sender = senderOf(parts, connected, address)
  const follower = followerOf(parts, chainId)
  const active = activeSenders(connected, 'deliver')
  const canSend = (key: string) => parts.gas.canSend(chainId, key)
  const deps = {
    share: () => shareOf({ active, address, canSend }),
    ...{
      pool,
      sender,
      destination: chain,
      originOf: (chainId: number) => parts.chains.of(chainId).chain,
      isVerified: (chainId: number) => parts.chains.of(chainId).gate.isOpen,
      isLive: follower.isLive,
      downSeconds: follower.downSeconds,
      isClaimable: parts.isClaimable,
      isLate: parts.isLate,
    },
    ...{ refreshPrices: prices.refresh, isPriceKept: prices.isKept, patienceSeconds: PATIENCE_SECONDS },
    ...parts.signed,
    cutOffSeconds: config.network.deadlines?.cutOffSeconds ?? defaultDeadlines.cutOffSeconds,
    capsOf: (origin: number) => capsOf(parts.chains.of(origin).config),
    onRefundDecided: events.refundDecided,
  }
  return createSendingLane({
    name: `deliver:${chainId}:${address}`,
    ...{ sender, follower },
    ...(active.includes(address) ? deliverWork(chainId, deps, connected) : onlyFollowing),
  })
}
