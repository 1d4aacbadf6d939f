import { isTerminalStatus, type StatusReply } from '@geoswap/wire'

export type SwapKey = { accountId: string; swapId: string }
/** A stored state, serialised once however many callers it is sent to. */
export type Snapshot = { json: string; terminal: boolean }
/** What the store offers: one statement for many swaps; undefined where this account has no such swap. */
export type ReadStatuses = (keys: readonly SwapKey[]) => Promise<(StatusReply | undefined)[]>

type Result = Snapshot | undefined
type Entry = SwapKey & {
  /** Set when the swap changes while its statement runs. */
  stale: boolean
  result: Promise<Result>
  resolve(result: Result): void
  reject(error: unknown): void
}

type Settled = PromiseSettledResult<(StatusReply | undefined)[]>
type Taken = { entries: Entry[]; replies: Promise<(StatusReply | undefined)[]> }

export type StatusBatch = {
  read(key: SwapKey): Promise<Result>
  /** The swap has changed: forget what is known about it. */
  forget(swapId: string): void
  /** Whether ended swaps may be answered from memory. Off while changes could go unheard. */
  useMemory(on: boolean): void
}

// Large enough that thousands who end together share a few round trips.
const MAX_BATCH = 1_000
// How many answers are sent before other calls get their turn.
const SLICE = 64
const MAX_REMEMBERED = 10_000

/**
 * Reads swaps for many callers at once: one statement in flight, everyone who arrives meanwhile shares
 * the next. Ended swaps are answered from memory.
 */
export function createStatusBatch(readStatuses: ReadStatuses): StatusBatch {
  const waiting = new Map<string, Entry>()
  const flying = new Map<string, Entry[]>()
  const memory = createMemory()
  let running = false

  const take = (): Taken | undefined => {
    const entries = takeFirst(waiting, MAX_BATCH)
    if (entries.length === 0) return undefined
    for (const entry of entries) flying.set(entry.swapId, [entry, ...(flying.get(entry.swapId) ?? [])])
    return { entries, replies: readStatuses(entries.map(({ accountId, swapId }) => ({ accountId, swapId }))) }
  }
  const run = async (): Promise<void> => {
    for (let taken = take(); taken; ) {
      const [settled] = await Promise.allSettled([taken.replies])
      // The next statement runs while the answers of this one are sent.
      const next = take()
      for (let first = 0; first < taken.entries.length; first += SLICE) {
        for (const entry of taken.entries.slice(first, first + SLICE)) land(flying, entry)
        answerSlice(taken.entries, { settled, first }, settle)
        await nextTurn()
      }
      taken = next ?? take()
    }
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
  const settle = (entry: Entry, result: Result): void => {
    // The swap changed while this statement ran: whoever asked gets a state that includes the change.
    if (entry.stale) return void read(entry).then(entry.resolve, entry.reject)
    if (result?.terminal) memory.remember(entry, result)
    entry.resolve(result)
  }

  return {
    read,
    forget(swapId) {
      memory.forget(swapId)
      for (const entry of flying.get(swapId) ?? []) entry.stale = true
    },
    useMemory: memory.use,
  }
}

function nameOf({ accountId, swapId }: SwapKey): string {
  return `${accountId} ${swapId}`
}

function createEntry(key: SwapKey): Entry {
  const { promise: result, resolve, reject } = withResolvers<Result>()
  return { ...key, stale: false, result, resolve, reject }
}

function withResolvers<T>() {
  let resolve: (value: T) => void = () => {}
  let reject: (error: unknown) => void = () => {}
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  return { promise, resolve, reject }
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

type Answers = { settled: Settled; first: number }

function answerSlice(
  entries: readonly Entry[],
  { settled, first }: Answers,
  onResult: (entry: Entry, result: Result) => void,
): void {
  for (const [index, entry] of entries.slice(first, first + SLICE).entries()) {
    if (settled.status === 'rejected') entry.reject(settled.reason)
    else onResult(entry, toSnapshot(settled.value[first + index]))
  }
}

function toSnapshot(reply: StatusReply | undefined): Result {
  return reply && { json: JSON.stringify(reply), terminal: isTerminalStatus(reply.status) }
}

/** From here on a change of the swap is news again, and not a flaw of what was read. */
function land(flying: Map<string, Entry[]>, entry: Entry): void {
  const others = flying.get(entry.swapId)?.filter((other) => other !== entry) ?? []
  if (others.length > 0) flying.set(entry.swapId, others)
  else flying.delete(entry.swapId)
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
      snapshots.set(swapId, { ...snapshot, accountId })
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
