import { atMostEvery } from '../async/timing.ts'
import type { Heads } from '../chains/chain.ts'
import type { ConnectedChain } from '../chains/families.ts'
import { createMoves } from '../engine/advance.ts'
import { createGasTask, createTimeKeeper, createWasteReader, gasValueOf } from '../engine/books.ts'
import { topUpLowest } from '../engine/gas-watch.ts'
import type { Lane } from '../engine/lane.ts'
import { overlapOf } from '../engine/scan.ts'
import { createSender } from '../engine/sender.ts'
import { createSendingLane } from '../engine/sending.ts'
import { createWatchLane } from '../engine/watch.ts'
import { confirmDeliveries, finalizeDeliveries } from '../stages/deliver/confirm-delivery.ts'
import { type DeliverDeps, deliverLocked, redeliverStalled } from '../stages/deliver/deliver.ts'
import { createSweepWork } from '../stages/deliver/sweep.ts'
import { confirmLocks, undoLocks } from '../stages/lock/confirm-lock.ts'
import { hasPriced, lockWaiting } from '../stages/lock/lock.ts'
import { createWaitingLocks } from '../stages/lock/readiness.ts'
import { retryStalledLocks } from '../stages/lock/retry-lock.ts'
import { judgeTaken } from '../stages/lock/screen-deposits.ts'
import { createDepositTasks } from '../stages/lock/see-deposits.ts'
import { closeSwaps } from '../stages/settle/close.ts'
import { createCloseWork } from '../stages/settle/close-untaken.ts'
import { createSettleTasks } from '../stages/settle/propose.ts'
import { createRecoverWork, noteRecoveries } from '../stages/settle/recover-deposits.ts'
import { type RelayDeps, relayAttested } from '../stages/settle/relay.ts'
import { markOriginSafe } from '../store/exposure.ts'
import type { Lease } from '../store/lanes.ts'
import { findToLock } from '../store/swaps.ts'
import { lateLockSeconds } from '../swap/deadlines.ts'
import { blockSecondsOf } from '../swap/finality.ts'
import type { Share } from '../swap/group.ts'
import { activeSenders, sendersOf, shareOf } from '../swap/served-chain.ts'
import { isPayment } from '../swap/swap.ts'
import { floatOf } from './catalog.ts'
import { createFollowing, createLedgerTask, payoutCapsOf } from './following.ts'
import { createOrphanTask } from './rebuild.ts'
import { followerOf, type WorkerParts } from './worker-parts.ts'

const PATIENCE_SECONDS = 60
// Gas lasts for days: balances need not be read with every block.
const GAS_LOOK_MS = 5_000
// Of concurrent tasks, the first finds what no notification announced.
const HELPER_IDLE_MS = 60_000
// More than a batch, so that blocked swaps do not hold up the rest.
const FETCHED_LOCKS = 40

/** All lanes of a chain: it is watched, its keys send, and its gas float tops them up. */
export function lanesOf(parts: WorkerParts, chain: ConnectedChain): Lane[] {
  const { relay, authorize, deliver } = chain.senders
  const lanes = [
    watchLane(parts, chain),
    ...relay.map((address) => relayLane(parts, chain, address, relayShareOf(parts, chain, address))),
    ...authorize.map((address) => relayLane(parts, chain, address)),
    ...topUpLanes(parts, chain),
    ...deliver.map((address) => deliverLane(parts, chain, address)),
  ]
  return lanes.map((lane) => ({ ...lane, isOpen: () => chain.gate.isOpen }))
}

/** The gas float's own lane, which tops up all other keys. */
function topUpLanes(parts: WorkerParts, connected: ConnectedChain): Lane[] {
  const float = floatOf(parts.config.network, connected)
  if (!float) return []
  const { pool } = parts
  const { chain, config, nativeToken } = connected
  const sender = senderOf(parts, connected, float.address)
  const keys = sendersOf(connected)
  const view = followerOf(parts, config.chainId)
  const deps = {
    pool,
    chain,
    sender,
    keys,
    limits: float.limits,
    nativeToken: nativeToken.address,
    balanceOf: (key: string) => view.part('state')?.value.balances[key],
  }
  const look = atMostEvery(GAS_LOOK_MS, (lease: Lease, heads: Heads) => topUpLowest(deps, lease, heads))
  const run = async (lease: Lease, heads?: Heads) => {
    if (heads) await look(lease, heads)
    return true
  }
  return [
    createSendingLane({
      name: `topup:${config.chainId}:${float.address}`,
      sender,
      follower: followerOf(parts, config.chainId),
      retryStalled: async () => false,
      works: [{ topics: [], run }],
    }),
  ]
}

type RelayShare = { isFirst: boolean; now(): Share | undefined }

/** Undefined for a retiring key: it follows up on its transactions, and leaves other work to active keys. */
function relayShareOf({ gas }: WorkerParts, chain: ConnectedChain, address: string): RelayShare | undefined {
  const active = activeSenders(chain, 'relay')
  if (!active.includes(address)) return undefined
  const { chainId } = chain.config
  const now = () => shareOf({ active, address, canSend: (key) => gas.isFree(chainId, key) })
  return { isFirst: active[0] === address, now }
}

function senderOf(parts: WorkerParts, connected: ConnectedChain, address: string) {
  const { chain, config, nativeToken } = connected
  const { pool, events, isClaimable } = parts
  return createSender({
    pool,
    chain,
    address,
    maxInFlight: config.maxInFlight,
    isClaimable,
    readWasted: createWasteReader({ pool, chain, usdE6Of: gasValueOf(parts, config, nativeToken) }),
    events: events.ofSender(config.name, address),
  })
}

function watchLane(parts: WorkerParts, connected: ConnectedChain): Lane {
  const { pool, events } = parts
  const { chain, config } = connected
  const senders = Object.values(connected.senders).flat()
  const follower = followerOf(parts, config.chainId)
  const rules = config.finality
  const endOf = (chainId: number) => {
    const { finality, blockMs } = parts.chains.of(chainId).config
    return { finality, blockSeconds: blockMs / 1_000 }
  }
  const times = createTimeKeeper({ pool, endOf, onSettled: events.settled })
  const moves = createMoves(pool, (moved, change) => {
    events.moved(moved, change)
    if (change.event === 'deliverySeen') times.note(moved)
  })
  const originDeps = { pool, origin: chain, rules, moves }
  const destinationDeps = {
    pool,
    destination: chain,
    rules,
    finalitySeconds: () => follower.measured().finalitySeconds,
    originOf: (chainId: number) => parts.chains.of(chainId).chain,
    moves,
  }
  const lane = createWatchLane({
    pool,
    chain,
    follower,
    senders,
    overlap: overlapOf(config),
    undo: (db, gone) => undoLocks(moves, db, gone),
    confirmLocks: (heads) => confirmLocks(originDeps, heads),
    confirmDeliveries: (lease, heads) => confirmDeliveries(destinationDeps, lease, heads),
    closeSwaps: (heads, events, faults) => closeSwaps(originDeps, heads, events, faults),
    finalizeDeliveries: (heads, events, faults) => finalizeDeliveries(destinationDeps, heads, events, faults),
    noteRecoveries: (heads, faults) => noteRecoveries({ pool, chainId: config.chainId }, heads, faults),
    onSafe: (after, upTo) => markOriginSafe(pool, { chainId: config.chainId, after, upTo }),
  })
  const settling = createSettleTasks({ pool, origin: chain, follower, ...parts.collect, ...parts.signed })
  const books = [createLedgerTask(parts, connected, follower), createGasTask(parts, connected, follower)]
  const orphans = createOrphanTask({ ...parts, network: parts.config.network }, config.chainId)
  return {
    ...lane,
    tasks: [
      ...[...createFollowing(parts, connected), ...lane.tasks, ...books, orphans, ...settling, times.task],
      ...createDepositTasks({ pool, chain, follower, moves, screening: parts.screening }),
    ],
  }
}

/** Without a share, the lane locks the inputs assigned to its key and leaves claims and refunds to others. */
function relayLane(parts: WorkerParts, connected: ConnectedChain, address: string, share?: RelayShare): Lane {
  const { pool, prices } = parts
  const { chain, config } = connected
  const sender = senderOf(parts, connected, address)
  const view = followerOf(parts, config.chainId)
  const batchSize = connected.senders.authorize.includes(address) ? 1 : chain.maxBatch
  const deps = {
    pool,
    sender,
    origin: chain,
    batchSize,
    refreshPrices: prices.refresh,
    paidNow: prices.paidNow,
    screening: parts.screening,
    gasBudgets: parts.config.network.budgets.wastedGas,
    valueCentsOf: prices.valueCentsOf,
    ...parts.signed,
    ...parts.collect,
    destinationOf: parts.destinations.of,
    isLive: (chainId: number) => followerOf(parts, chainId).isLive(),
    isGone: (chainId: number) => followerOf(parts, chainId).downSeconds() > PATIENCE_SECONDS,
    isLate: parts.isLate,
    lateLockSeconds: lateLockSeconds({ ...config.finality, originBlockSeconds: blockSecondsOf(config) }),
    moves: parts.moves,
  }
  // If a transaction carries one swap, several are prepared concurrently.
  const [atOnce, takeSize] = batchSize === 1 ? [4, 1] : [1, FETCHED_LOCKS]
  const waiting = createWaitingLocks({
    takeSize,
    limit: FETCHED_LOCKS,
    find: (limit) => findToLock(pool, { chainId: config.chainId, locker: address, limit }),
  })
  return createSendingLane({
    name: `relay:${config.chainId}:${address}`,
    sender,
    follower: followerOf(parts, config.chainId),
    retryStalled: (lease, heads) => retryStalledLocks(deps, lease, heads),
    works: [
      ...Array.from({ length: atOnce }, (_, at) => ({
        topics: [`lock:${config.chainId}:${address}`] as const,
        idleMs: at === 0 ? undefined : HELPER_IDLE_MS,
        // Feeds of any chain may price a swap that waits to be locked.
        topicsIfLeft: ['prices'] as const,
        isDue: (heads: Heads) => hasPriced(deps, heads, waiting),
        run: async (lease: Lease, heads?: Heads) => !heads || lockWaiting(deps, lease, heads, waiting),
      })),
      ...(share === undefined ? [] : [relayWork(config.chainId, { ...deps, share: share.now })]),
      ...(share?.isFirst
        ? [createRecoverWork({ ...deps, catalog: parts.catalog, prices, chain, view })]
        : []),
      ...(share?.isFirst && connected.closing
        ? [createCloseWork({ ...deps, chainId: config.chainId, closing: connected.closing })]
        : []),
    ],
  })
}

function relayWork(chainId: number, deps: RelayDeps) {
  return {
    topics: [`relay:${chainId}`] as const,
    run: async (lease: Lease, heads?: Heads) => !heads || relayAttested(deps, lease, heads),
  }
}

const onlyFollowing = { retryStalled: async () => false, works: [] }

function deliverWork(chainId: number, deps: DeliverDeps, { sweeping }: ConnectedChain) {
  const deliver = (lease: Lease, heads?: Heads) => deliverLocked(deps, lease, heads)
  return {
    retryStalled: (lease: Lease, heads: Heads) => redeliverStalled(deps, lease, heads),
    works: [
      { topics: [`deliver:${chainId}`] as const, run: deliver },
      ...(sweeping ? [createSweepWork({ ...deps, chainId, ...sweeping })] : []),
    ],
  }
}

/** Only payments lie where others may have sent the input unseen. */
function createTakenJudge({ chains, screening }: WorkerParts): DeliverDeps['judgeTaken'] {
  if (!screening) return undefined
  return async (swap) => {
    const { ways } = chains.of(swap.op.originChain).chain
    return isPayment(swap.op) && ways ? judgeTaken({ ways, screening }, swap) : { kind: 'allow' }
  }
}

function deliverLane(parts: WorkerParts, connected: ConnectedChain, address: string): Lane {
  const { pool, prices, config } = parts
  const { chainId } = connected.config
  const sender = senderOf(parts, connected, address)
  const follower = followerOf(parts, chainId)
  const active = activeSenders(connected, 'deliver')
  const canSend = (key: string) => parts.gas.isFree(chainId, key)
  const deps = {
    share: () => shareOf({ active, address, canSend }),
    pool,
    sender,
    destination: parts.destinations.of(chainId),
    originOf: (chainId: number) => parts.chains.of(chainId).chain,
    bookPayouts: payoutCapsOf(parts, connected, follower)?.book,
    isVerified: (chainId: number) => parts.chains.of(chainId).gate.isOpen,
    isLive: follower.isLive,
    downSeconds: follower.downSeconds,
    screening: parts.screening,
    judgeTaken: createTakenJudge(parts),
    isClaimable: parts.isClaimable,
    isLate: parts.isLate,
    refreshPrices: prices.refresh,
    isPriceKept: prices.isKept,
    patienceSeconds: PATIENCE_SECONDS,
    ...parts.signed,
    cutOffSeconds: config.network.deadlines.cutOffSeconds,
    capsOf: parts.capsOf,
    hardSecondsOf: (origin: number) => parts.chains.of(origin).config.finality.hardSeconds,
    moves: parts.moves,
  }
  return createSendingLane({
    name: `deliver:${chainId}:${address}`,
    sender,
    follower,
    ...(active.includes(address) ? deliverWork(chainId, deps, connected) : onlyFollowing),
  })
}
