import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { Chain, Heads } from '../chains/chain.ts'
import type { ChainView, HeadSubscription, ViewReader } from '../chains/view.ts'
import { type Awaited, writeChainView } from '../store/chain-views.ts'
import { setHoldings } from '../store/inventory.ts'
import type { Lease } from '../store/lanes.ts'
import type { Topic } from '../store/wakes.ts'
import { createHeadOrder, createMeasure, createStateTime, type Pace, paceOf } from '../swap/pace.ts'
import type { UnsignedKeys } from '../swap/served-chain.ts'
import type { Task } from './lane.ts'
import type { PayoutCaps } from './payout-caps.ts'
import type { ViewOfChain, Views } from './views.ts'

type Options = {
  pool: Pool
  chain: Pick<Chain, 'chainId' | 'readHeads'>
  blockMs: number
  callsPerHead: number
  hasFeeds: boolean
  /** Which swaps wait for this chain. */
  readAwaited(chainId: number): Promise<Awaited>
  /** Undefined if the chain keeps the caps of its vault. */
  caps?: Pick<PayoutCaps, 'limit'> | undefined
  reader: ViewReader
  /** Topics that say that a swap begins to wait for this chain. */
  topics: readonly Topic[]
  /** Undefined without WebSocket nodes. A new head wakes `announced:<chain>`. */
  subscription: HeadSubscription | undefined
  /** Keys that this process cannot sign with now. */
  unsigned(): UnsignedKeys
  /** A block that was final for the process that followed before stays final. */
  views: Pick<Views, 'take'> & { of(chainId: number): Pick<ViewOfChain, 'followed'> }
}

const NEVER = Number.NEGATIVE_INFINITY
const UNKNOWN: Awaited = {
  ...{ isAwaited: true, isOpen: true, isPricing: false },
  ...{ acceptedAt: undefined, at: 0, stuck: [] },
}

/**
 * Follows a chain for all processes, under the lease of its watch lane: polls its heads, reads the parts of its view
 * when they are due, and stores the view. Polls often only while a swap waits for this chain.
 */
export function createChainFollower(options: Options): Task[] {
  const { chain, views } = options
  const order = createHeadOrder(options.blockMs)
  const measure = createMeasure(options.blockMs)
  const parts = createViewParts(options.reader)
  let heads: Heads | undefined
  let movedAt = NEVER
  let awaited = UNKNOWN
  let pace = paceAt(options, awaited)
  const stateTime = createStateTime(options.hasFeeds, parts.stateOf)
  const publish = createPublisher(options, (view) => stateTime.notePublished(view.stateAsOf))

  const viewAt = (heads: Heads): ChainView => ({
    ...parts.current(),
    heads,
    stateAsOf: stateTime.read(),
    measured: measure.measured(),
    unsigned: options.unsigned(),
    stuck: awaited.stuck,
    agesMs: { head: Math.round(performance.now() - movedAt), ...parts.ages() },
  })

  const readDue = createShared((at) => readParts(options, parts, { at, pace }))
  const schedule = createPollSchedule(options, () => ({
    pace,
    movedAt,
    number: heads?.head.number ?? 0n,
    isStateAwaited: stateTime.isAwaited(),
  }))
  const followHeads: Task = {
    topics: [...options.topics, `announced:${chain.chainId}`],
    async step(lease, wakeLane) {
      options.subscription?.keep()
      // Each new swap wakes this task. While another waits already, it matters only when a poll may be due.
      if (schedule.isLookDue()) {
        awaited = await options.readAwaited(chain.chainId)
        pace = paceAt(options, awaited)
        stateTime.noteAccepted(awaited.acceptedAt)
      }
      await schedule.whenDue(wakeLane, async (now) => {
        const seen = await chain.readHeads(heads ?? views.of(chain.chainId).followed(), !awaited.isOpen)
        const isNew = seen !== heads
        if (isNew && !order.accepts(seen.head, now)) return
        stateTime.notePoll(awaited.at, seen.head.hash)
        if (isNew) {
          heads = seen
          movedAt = performance.now()
          measure.note(seen.head, seen.hard)
        }
        if (!isNew && !stateTime.isAwaited()) return
        // Locks and deliveries at this head use its prices. A slow node delays the head only briefly, and the other
        // task reports its error.
        if (pace.isInFlight) await Promise.race([readDue(seen).catch(() => {}), delay(PARTS_WAIT_MS)])
        const view = viewAt(seen)
        // Swaps wait to learn that the known prices are still the newest, although the block is not new.
        if (isNew || stateTime.isNews()) await publish(lease, view)
      })
    },
  }
  const readOthers: Task = {
    topics: [`head:${chain.chainId}`],
    async step(lease) {
      if (!heads) return
      const answers = await readDue(heads)
      if (!answers) return
      if (Object.keys(answers.read).length > 0) await publish(lease, viewAt(heads))
      if (answers.fault !== undefined) throw answers.fault
    },
  }
  return [followHeads, readOthers]
}

const PARTS_WAIT_MS = 500

/** Reads the parts that are due, and stores the holdings of the vault. */
async function readParts(
  { pool, chain: { chainId }, caps }: Options,
  parts: ReturnType<typeof createViewParts>,
  { at, pace }: { at: Heads; pace: Pace },
) {
  if (!parts.isDue(at, pace)) return
  const answers = await parts.read(at, pace)
  const { state } = answers.read
  if (state) {
    const holdings = (await caps?.limit(state.holdings, at)) ?? state.holdings
    await setHoldings(pool, { chainId, block: at.head.number }, [...holdings])
  }
  return answers
}

/** Shares a read that is under way with callers that ask meanwhile. */
function createShared<T>(read: (at: Heads) => Promise<T>): (at: Heads) => Promise<T> {
  let running: Promise<T> | undefined
  return (at) => {
    running ??= read(at).finally(() => {
      running = undefined
    })
    return running
  }
}

function paceAt(options: Options, awaited: Pick<Awaited, 'isAwaited' | 'isPricing'>): Pace {
  const { blockMs, callsPerHead, hasFeeds, subscription } = options
  const isPricing = hasFeeds && awaited.isPricing
  return paceOf({
    blockMs,
    callsPerHead,
    hasFeeds,
    isInFlight: awaited.isAwaited || isPricing,
    isPricing,
    isSubscribed: subscription?.isConnected() ?? false,
  })
}

type PollState = { pace: Pace; movedAt: number; number: bigint; isStateAwaited: boolean }

/** Schedules polls of the head: by the pace, sooner while an announced head was not seen or a swap waits for prices. */
function createPollSchedule({ chain: { chainId }, subscription, hasFeeds }: Options, state: () => PollState) {
  let polledAt = NEVER
  let lookedAt = NEVER
  let timer: NodeJS.Timeout | undefined
  const dueAt = () => {
    const { pace, movedAt, number, isStateAwaited } = state()
    const isAhead =
      subscription && (subscription.announcedAt() > polledAt || subscription.announcedNumber() > number)
    if (isAhead && subscription.isConnected()) return polledAt + pace.announcedPollMs
    if (isStateAwaited) return polledAt + pace.pollMs
    return Math.max(polledAt + pace.pollMs, movedAt + pace.afterHeadMs)
  }
  // A swap that is accepted meanwhile may wait for a poll that is not due yet.
  const lookDueAt = () => {
    const { pace } = state()
    return hasFeeds && pace.isInFlight ? Math.min(dueAt(), lookedAt + pace.pollMs) : dueAt()
  }
  return {
    isLookDue(): boolean {
      const now = performance.now()
      if (state().pace.isInFlight && now < lookDueAt()) return false
      lookedAt = now
      return true
    },
    async whenDue(wakeLane: (topic: Topic) => void, poll: (now: number) => Promise<void>): Promise<void> {
      const now = performance.now()
      try {
        if (now < dueAt()) return
        polledAt = now
        await poll(now)
      } finally {
        clearTimeout(timer)
        timer = setTimeout(
          () => wakeLane(`announced:${chainId}`),
          Math.max(0, lookDueAt() - performance.now()),
        )
      }
    },
  }
}

/** Writes one view at a time, and skips a view if a newer one is queued behind it. */
function createPublisher(
  { pool, chain: { chainId }, views }: Options,
  onPublished: (view: ChainView) => void,
) {
  let last: Promise<void> = Promise.resolve()
  let newest: ChainView | undefined
  return (lease: Lease, view: ChainView): Promise<void> => {
    newest = view
    const write = async () => {
      if (newest !== view) return
      const version = await writeChainView(pool, lease, chainId, view)
      if (version === undefined) return
      onPublished(view)
      views.take({ chainId, view, version, ageMs: 0 })
    }
    last = last.then(write, write)
    return last
  }
}

const PARTS = ['costs', 'state', 'pools'] as const
type Part = (typeof PARTS)[number]
type Parts = Pick<ChainView, Part>
type ReadAt = Partial<Record<Part, number>>

const RETRY_MS = 1_000

/** Keeps the parts of a view beside its heads. Reads a part at a new head once it is old enough. */
export function createViewParts(reader: ViewReader) {
  const parts: Parts = {}
  const readAt: ReadAt = {}
  let readFor: string | undefined
  let stateOf: string | undefined
  let retryAt = 0

  return {
    current: () => parts,
    ages(): Omit<ChainView['agesMs'], 'head'> {
      const now = performance.now()
      return Object.fromEntries(Object.entries(readAt).map(([part, at]) => [part, Math.round(now - at)]))
    },
    /** The block of the state. */
    stateOf: () => stateOf,
    /** Due at a new block; a failed reading is retried after a pause. The state may become due at a known block. */
    isDue({ head: { hash } }: Heads, { stateMs }: Pace): boolean {
      const isStateDue = stateMs === 0 && hash !== stateOf
      return (hash !== readFor || isStateDue) && performance.now() >= retryAt
    },
    /** Returns the parts that were read, and the error of one that failed. */
    async read(at: Heads, pace: Pace): Promise<{ read: Parts; fault?: unknown }> {
      const due = dueParts(pace, readAt)
      const answers = await readAll(reader, due, at)
      for (const part of due) if (part in answers.read) readAt[part] = performance.now()
      Object.assign(parts, answers.read)
      if (answers.read.state) stateOf = at.head.hash
      if (answers.fault === undefined) readFor = at.head.hash
      else retryAt = performance.now() + RETRY_MS
      return answers
    },
  }
}

function dueParts(pace: Pace, readAt: ReadAt): Part[] {
  const leastAge = { costs: pace.costsMs, state: pace.stateMs, pools: pace.poolsMs }
  return PARTS.filter((part) => performance.now() - (readAt[part] ?? NEVER) >= leastAge[part])
}

/** Reads in one tick, so that an adapter can batch all calls. A failed part does not affect the others. */
async function readAll(reader: ViewReader, due: readonly Part[], at: Heads) {
  const reads = {
    costs: () => reader.readCosts(at),
    state: () => reader.readState(at),
    pools: () => reader.readPools(at),
  }
  const answers = await Promise.allSettled(due.map(async (part) => [part, await reads[part]()] as const))
  const read = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
  const failed = answers.find((answer) => answer.status === 'rejected')
  return { read: Object.fromEntries(read) as Parts, fault: failed?.reason as unknown }
}
