import type { Pool } from 'pg'
import type { Heads } from '../chains/chain.ts'
import type { ChainView } from '../chains/view.ts'
import { announcedView, readChainViews, type StoredView } from '../store/chain-views.ts'
import type { UnsignedKeys } from '../swap/served-chain.ts'

type Options = {
  pool: Pool
  chains: readonly { chainId: number; maxAgeMs: number }[]
  onHead?(chainId: number): void
  /** The prices of a chain's feeds are newer than those for which swaps may wait. */
  onPrices?(chainId: number): void
  onFault(error: unknown): void
}

/** A part of a view and how old it is now. `asOf`: when the state was the newest, by the clock of the database. */
export type Aged<T> = { value: T; ageMs: number; asOf?: number | undefined }
type Part = 'costs' | 'state' | 'pools'

/** The head of a chain, from the view that the chain's follower writes. */
export type HeadFollower = {
  chainId: number
  current(): Heads | undefined
  /** True while the view is renewed and its head moves. */
  isLive(): boolean
  /** Seconds during which this process observed that the head did not move. */
  downSeconds(): number
}

export type ViewOfChain = HeadFollower & {
  part<P extends Part>(name: P): Aged<NonNullable<ChainView[P]>> | undefined
  /** The heads, if they moved at most this long ago. */
  recent(maxAgeMs: number): Heads | undefined
  measured(): ChainView['measured']
  unsigned(): UnsignedKeys
  stuck(): readonly string[]
  /** The heads, if they changed since this process began. */
  followed(): Heads | undefined
}

type WritableView = ViewOfChain & {
  take(stored: StoredView): void
  /** Notes that the database was read, whether or not it had a new view. */
  noteReading(): void
  stop(): void
}

export type Views = {
  of(chainId: number): ViewOfChain
  /** Accepts a view that this process wrote itself. */
  take(stored: StoredView): void
  /** Reads new views. */
  refresh(): Promise<void>
  /** Reads the view that a notification announces, unless it is known: this process may have written it. */
  noteAnnounced(payload: string): void
  start(): Promise<void>
  stop(): void
}

const LOOK_MS = 1_000
const LONGEST_LOOK_MS = 5_000

// See docs/decisions.md#one-follower-for-each-chain.
/** The chains as every process knows them: views written by the chains' followers, read without a call to a node. */
export function createViews({ pool, chains, onHead, onPrices, onFault }: Options): Views {
  const all = chains.map((chain) =>
    createViewOfChain(chain, {
      onHead: () => onHead?.(chain.chainId),
      onPrices: () => onPrices?.(chain.chainId),
    }),
  )
  const byId = new Map(all.map((view) => [view.chainId, view]))
  const versions = new Map(chains.map(({ chainId }) => [chainId, 0n]))
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let isAskedAgain: boolean

  async function look(): Promise<void> {
    do {
      isAskedAgain = false
      for (const stored of await readChainViews(pool, versions)) take(stored)
      for (const view of all) view.noteReading()
    } while (isAskedAgain)
  }
  function take(stored: StoredView): void {
    if (stored.version <= (versions.get(stored.chainId) ?? 0n)) return
    versions.set(stored.chainId, stored.version)
    byId.get(stored.chainId)?.take(stored)
  }
  function refresh(): Promise<void> {
    isAskedAgain = true
    running ??= look()
      .catch(onFault)
      .finally(() => {
        running = undefined
      })
    return running
  }

  return {
    of(chainId) {
      const view = byId.get(chainId)
      if (!view) throw new Error(`Chain ${chainId} is not followed`)
      return view
    },
    take,
    refresh,
    noteAnnounced(payload) {
      const announced = announcedView(payload)
      if (announced && (versions.get(announced.chainId) ?? 0n) >= announced.version) return
      void refresh()
    },
    async start() {
      await refresh()
      // Bounds the delay of a lost notification.
      timer = setInterval(refresh, LOOK_MS)
    },
    stop() {
      clearInterval(timer)
      for (const view of all) view.stop()
    },
  }
}

type Seen = { view: ChainView; at: number }

function createViewOfChain(
  { chainId, maxAgeMs }: Options['chains'][number],
  { onHead, onPrices }: { onHead(): void; onPrices(): void },
): WritableView {
  const awake = createAwakeClock()
  let seen: Seen | undefined
  let moves = 0
  // Durations use this process's own clock; the clocks of other machines may differ.
  let movedAt = Number.NEGATIVE_INFINITY
  let lookedAt = awake.now()
  let downMs = 0

  return {
    chainId,
    current: () => seen?.view.heads,
    isLive: () => performance.now() - movedAt <= maxAgeMs,
    recent: (ageMs) => (performance.now() - movedAt <= ageMs ? seen?.view.heads : undefined),
    downSeconds: () => downMs / 1_000,
    part(name) {
      if (!seen) return undefined
      const value = seen.view[name]
      const age = seen.view.agesMs[name]
      if (value === undefined || age === undefined) return undefined
      const asOf = name === 'state' ? seen.view.stateAsOf : undefined
      return { value, ageMs: age + performance.now() - seen.at, asOf }
    },
    measured: () => seen?.view.measured ?? {},
    unsigned: () => seen?.view.unsigned ?? {},
    stuck: () => seen?.view.stuck ?? [],
    // The first heads may be old.
    followed: () => (moves > 1 ? seen?.view.heads : undefined),
    take({ view, ageMs }) {
      const before = seen
      const at = performance.now() - ageMs
      seen = { view, at }
      if (before?.view.stateAsOf !== view.stateAsOf) onPrices()
      if (before?.view.heads.head.hash === view.heads.head.hash) return
      moves += 1
      movedAt = at - view.agesMs.head
      lookedAt = awake.now()
      downMs = 0
      onHead()
    },
    noteReading() {
      const now = awake.now()
      // Do not count the time in which the database did not answer.
      downMs += Math.min(now - lookedAt, LONGEST_LOOK_MS)
      lookedAt = now
    },
    stop: awake.stop,
  }
}

// Well above the event loop's delay in a busy process.
const TICK_MS = 1_000
const LONGEST_TICK_MS = 5_000

/**
 * Milliseconds for which this process was running. A process that was suspended observed nothing meanwhile, and must
 * not count that time as downtime of a chain.
 */
export function createAwakeClock(read: () => number = () => performance.now()) {
  let awake = 0
  let last = read()
  function now(): number {
    const time = read()
    awake += Math.min(time - last, LONGEST_TICK_MS)
    last = time
    return awake
  }
  const ticking = setInterval(now, TICK_MS).unref()
  return { now, stop: () => clearInterval(ticking) }
}
