import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { Heads } from '../chains/chain.ts'
import type { ChainView, ViewReader } from '../chains/view.ts'
import { createHeadOrder } from '../model/head-order.ts'
import { createMeasure } from '../model/measured.ts'
import { type Pace, paceOf } from '../model/poll-pace.ts'
import { isChainAwaited, type StoredView, writeChainView } from '../store/chain-views.ts'
import { setHoldings } from '../store/inventory.ts'
import type { Lease } from '../store/lanes.ts'
import type { Task } from './lane.ts'
import { createViewParts } from './view-parts.ts'

type Options = {
  pool: Pool
  chainId: number
  blockMs: number
  callsPerHead: number
  hasFeeds: boolean
  readHeads(known?: Heads): Promise<Heads>
  reader: ViewReader
  /** Topics that say that a swap begins to wait for this chain. */
  topics: readonly string[]
  /** The heads that other processes followed before: a block that was final for them stays final. */
  followedBefore(): Heads | undefined
  /** Where nodes tell of new heads; telling wakes `told:<chain>`. */
  news: HeadNews | undefined
  onWritten(stored: StoredView): void
}

/** A subscription to heads. It only says when to look: what the head is, the nodes are asked. */
export type HeadNews = {
  isConnected(): boolean
  /** When a head was last told, and its number: a node behind the one that told it may not have it yet. */
  toldAt(): number
  toldNumber(): bigint
  /** Opens it, or keeps it open: only who follows the chain pays for it. */
  keep(): void
}

export const toldTopic = (chainId: number) => `told:${chainId}`

/**
 * Follows a chain for all processes, under the lease of its watch: reads its heads and, at some of them, the parts of
 * its view, and writes what is new. It looks often only while a swap waits for this chain.
 */
export function createChainFollower(options: Options): Task[] {
  const { pool, chainId } = options
  const order = createHeadOrder(options.blockMs)
  const measure = createMeasure(options.blockMs)
  const publish = createPublisher(options)
  const parts = createViewParts(options.reader)
  let heads: Heads | undefined
  let movedAt = 0
  let pace = paceAt(options, false)

  const viewAt = (heads: Heads): ChainView => ({
    ...parts.current(),
    heads,
    measured: measure.measured(),
    agesMs: { head: Math.round(performance.now() - movedAt), ...parts.ages() },
  })

  const readDue = createShared(async (at: Heads) => {
    if (!parts.isDue(at)) return
    const answers = await parts.read(at, pace)
    const { state } = answers.read
    if (state) await setHoldings(pool, { chainId, block: at.head.number }, [...state.holdings])
    return answers
  })
  const clock = createLookClock(options, () => ({ pace, movedAt, number: heads?.head.number ?? 0n }))
  const followHeads: Task = {
    topics: [...options.topics, toldTopic(chainId)],
    async step(lease, wakeLane) {
      options.news?.keep()
      pace = paceAt(options, await isChainAwaited(pool, chainId))
      await clock.whenDue(wakeLane, async (now) => {
        const seen = await options.readHeads(heads ?? options.followedBefore())
        if (seen === heads || !order.accepts(seen.head, now)) return
        heads = seen
        movedAt = performance.now()
        measure.note(seen.head, seen.hard)
        // Locks and deliveries at this head are judged by its prices. A node that is slow with them holds up no head;
        // the other task reports its fault.
        if (pace.isInFlight) await Promise.race([readDue(seen).catch(() => {}), delay(PARTS_WAIT_MS)])
        await publish(lease, viewAt(seen))
      })
    },
  }
  const readParts: Task = {
    topics: [`head:${chainId}`],
    async step(lease) {
      if (!heads) return
      const answers = await readDue(heads)
      if (!answers) return
      if (Object.keys(answers.read).length > 0) await publish(lease, viewAt(heads))
      if (answers.fault !== undefined) throw answers.fault
    },
  }
  return [followHeads, readParts]
}

const PARTS_WAIT_MS = 500

/** One reading at a time: who asks meanwhile gets its answer. */
function createShared<T>(read: (at: Heads) => Promise<T>): (at: Heads) => Promise<T> {
  let running: Promise<T> | undefined
  return (at) => {
    running ??= read(at).finally(() => {
      running = undefined
    })
    return running
  }
}

function paceAt(options: Options, isInFlight: boolean): Pace {
  const { blockMs, callsPerHead, hasFeeds, news } = options
  return paceOf({ blockMs, callsPerHead, hasFeeds, isInFlight, isSubscribed: news?.isConnected() ?? false })
}

type LookState = { pace: Pace; movedAt: number; number: bigint }

/** Says when to look at the head: by the pace, and without a pause while a head was told that was not seen. */
function createLookClock({ chainId, news }: Options, state: () => LookState) {
  let lookedAt = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined
  const dueAt = () => {
    const { pace, movedAt, number } = state()
    const isTold = news?.isConnected() && (news.toldAt() > lookedAt || news.toldNumber() > number)
    if (isTold) return lookedAt + pace.announcedPollMs
    return Math.max(lookedAt + pace.pollMs, movedAt + pace.afterHeadMs)
  }
  return {
    async whenDue(wakeLane: (topic: string) => void, look: (now: number) => Promise<void>): Promise<void> {
      const now = performance.now()
      try {
        if (now < dueAt()) return
        lookedAt = now
        await look(now)
      } finally {
        clearTimeout(timer)
        timer = setTimeout(wakeLane, Math.max(0, dueAt() - performance.now()), toldTopic(chainId))
      }
    },
  }
}

/** One write at a time, of the newest view: one that waited is left out when a newer one waits behind it. */
function createPublisher({ pool, chainId, onWritten }: Options) {
  let last: Promise<void> = Promise.resolve()
  let newest: ChainView | undefined
  return (lease: Lease, view: ChainView): Promise<void> => {
    newest = view
    const write = async () => {
      if (newest !== view) return
      const version = await writeChainView(pool, lease, chainId, view)
      if (version !== undefined) onWritten({ chainId, view, version, ageMs: 0 })
    }
    last = last.then(write, write)
    return last
  }
}
