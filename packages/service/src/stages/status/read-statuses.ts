import { isTerminalStatus, type StatusReply } from '@geoswap/wire'
import { chunksOf } from '../../swap/group.ts'

export type SwapKey = { accountId: string; swapId: string }
/** A stored state, serialised once for all callers. */
export type Snapshot = { json: string; terminal: boolean }
/** Reads many swaps with one statement; undefined for a swap that is not this account's. */
export type ReadStatuses = (keys: readonly SwapKey[]) => Promise<(StatusReply | undefined)[]>

type Result = Snapshot | undefined
type Entry = SwapKey & {
  result: Promise<Result>
  resolve(result: Result): void
  reject(error: unknown): void
}

type Settled = PromiseSettledResult<(StatusReply | undefined)[]>
/** Entries that one statement reads, and the count of changes when it began. */
type Taken = { entries: Entry[]; replies: Promise<(StatusReply | undefined)[]>; since: number }

type StatusBatch = {
  read(key: SwapKey): Promise<Result>
  /** Forgets the cached state of a changed swap. */
  forget(swapId: string): void
  /** Whether ended swaps may be answered from memory. Off while notifications could be lost. */
  useMemory(on: boolean): void
}

// Large enough that thousands of swaps that end together need few round trips.
const MAX_BATCH = 1_000
// How many answers are sent before other calls get their turn.
const SLICE = 64
const MAX_REMEMBERED = 10_000

/**
 * Reads swaps for many callers at once: one statement is in flight, and later callers share the next. Answers ended
 * swaps from memory.
 */
export function createStatusBatch(readStatuses: ReadStatuses): StatusBatch {
  const waiting = new Map<string, Entry>()
  /** Swaps that changed while statements ran, each with the number of its change. */
  const changed = new Map<string, number>()
  const memory = createMemory()
  let changes = 0
  let running = false

  const take = (): Taken | undefined => {
    const entries = takeFirst(waiting, MAX_BATCH)
    if (entries.length === 0) return undefined
    return { entries, replies: readStatuses(entries), since: changes }
  }
  const run = async (): Promise<void> => {
    for (let taken = take(); taken; ) {
      const [settled] = await Promise.allSettled([taken.replies])
      // The next statement runs while the answers of this one are sent.
      const next = take()
      for (const slice of chunksOf([...taken.entries.entries()], SLICE)) {
        for (const [index, entry] of slice) answer(entry, settled, index, taken.since)
        await nextTurn()
      }
      taken = next ?? take()
    }
    changed.clear()
    running = false
  }
  const read = (key: SwapKey): Promise<Result> => {
    const known = memory.find(key)
    if (known) return Promise.resolve(known)
    const name = nameOf(key)
    const joined = waiting.get(name)
    if (joined) return joined.result
    const entry = createEntry(key)
    waiting.set(name, entry)
    if (!running) {
      running = true
      setImmediate(() => void run())
    }
    return entry.result
  }
  const answer = (entry: Entry, settled: Settled, index: number, since: number): void => {
    if (settled.status === 'rejected') return void entry.reject(settled.reason)
    const result = toSnapshot(settled.value[index])
    // The swap changed while this statement ran: read it again to include the change.
    if ((changed.get(entry.swapId) ?? 0) > since) return void read(entry).then(entry.resolve, entry.reject)
    if (result?.terminal) memory.remember(entry, result)
    entry.resolve(result)
  }

  return {
    read,
    forget(swapId) {
      memory.forget(swapId)
      changes += 1
      if (running) changed.set(swapId, changes)
    },
    useMemory: memory.use,
  }
}

function nameOf({ accountId, swapId }: SwapKey): string {
  return `${accountId} ${swapId}`
}

function createEntry({ accountId, swapId }: SwapKey): Entry {
  const entry = { accountId, swapId } as Entry
  entry.result = new Promise((resolve, reject) => {
    entry.resolve = resolve
    entry.reject = reject
  })
  return entry
}

function takeFirst(waiting: Map<string, Entry>, max: number): Entry[] {
  const taken: Entry[] = []
  for (const [name, entry] of waiting) {
    if (taken.length === max) break
    waiting.delete(name)
    taken.push(entry)
  }
  return taken
}

function toSnapshot(reply: StatusReply | undefined): Result {
  return reply && { json: JSON.stringify(reply), terminal: isTerminalStatus(reply.status) }
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

function createMemory() {
  const snapshots = new Map<string, Snapshot & { accountId: string }>()
  let inUse = false
  return {
    find({ accountId, swapId }: SwapKey): Snapshot | undefined {
      const known = snapshots.get(swapId)
      return known?.accountId === accountId ? known : undefined
    },
    remember({ accountId, swapId }: SwapKey, snapshot: Snapshot): void {
      if (!inUse) return
      snapshots.delete(swapId)
      snapshots.set(swapId, { json: snapshot.json, terminal: snapshot.terminal, accountId })
      if (snapshots.size <= MAX_REMEMBERED) return
      const oldest = snapshots.keys().next()
      if (!oldest.done) snapshots.delete(oldest.value)
    },
    forget: (swapId: string): void => void snapshots.delete(swapId),
    use(on: boolean): void {
      inUse = on
      snapshots.clear()
    },
  }
}

type Sweep = { run(): Promise<void>; stop(): void }

type Options = {
  everyMs: number
  /** Reads the database once for all waiting callers. */
  look(): Promise<void>
  onError(error: unknown): void
}

/** Reads at an interval, one reading at a time, in case notifications are lost. */
export function createSweep({ everyMs, look, onError }: Options): Sweep {
  let running = false
  const run = async (): Promise<void> => {
    if (running) return
    running = true
    try {
      await look()
    } catch (error) {
      onError(error)
    } finally {
      running = false
    }
  }
  const timer = setInterval(() => void run(), everyMs)
  timer.unref()
  return { run, stop: () => clearInterval(timer) }
}
