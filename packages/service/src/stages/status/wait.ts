import { ServiceError } from '../../errors.ts'
import { type ConnectionSlots, createConnectionSlots } from './connection-slots.ts'
import {
  createStatusBatch,
  createSweep,
  type ReadStatuses,
  type Snapshot,
  type SwapKey,
} from './read-statuses.ts'

type StatusRead = SwapKey & {
  waitMs: number
  /** Receives the function to call when the caller hangs up. Called only if the read is held. */
  onHeld?(hangUp: () => void): void
}

export type StatusReads = {
  /**
   * Returns the swap's state as JSON: at once if it has ended or `waitMs` is 0, else when it ends or the wait is over.
   * Reads stored state only.
   */
  read(request: StatusRead): Promise<string>
  /** Call it when a swap has ended or an ended one changed. */
  swapEnded(swapId: string): void
  /** Call it when notifications start or stop arriving; without them nothing is answered from memory. */
  setListening(listening: boolean): void
  heldCount(): number
  /** Answers all held reads with the latest state and holds no more. */
  close(): Promise<void>
}

type Options = {
  readStatuses: ReadStatuses
  /** Returns the swaps that have ended, in case a notification was lost. */
  findEnded(swapIds: readonly string[]): Promise<readonly string[]>
  onError(error: unknown): void
  /** Shared with the streams. */
  slots?: ConnectionSlots
  sweepMs?: number
}

// Any other text is not a swap id; a NUL would even fail the statement that other reads share.
const SWAP_ID = /^[A-Za-z0-9_-]{1,80}$/
export const isSwapId = (text: string): boolean => SWAP_ID.test(text)

/**
 * Holds status reads with one statement for swaps that end together and one sweep per second, without a query of their
 * own. See docs/decisions.md#status-reads.
 */
export function createStatusReads(options: Options): StatusReads {
  const { findEnded, sweepMs = 1_000, slots = createConnectionSlots(), onError } = options
  const batch = createStatusBatch(options.readStatuses)
  let closing = false

  const answer = (waiter: Waiter, snapshot: Snapshot): void => {
    if (waiters.remove(waiter)) waiter.answer(snapshot)
  }
  const readAgain = (key: SwapKey) => batch.read(key).catch(onError)
  // A failed reading does not fail the caller: the last state is still valid.
  const answerLatest = (waiter: Waiter): Promise<void> =>
    readAgain(waiter)
      .then((snapshot) => answer(waiter, snapshot ?? waiter.latest))
      .catch(onError)
  const answerIfEnded = (waiter: Waiter): Promise<void> =>
    batch
      .read(waiter)
      .then((snapshot) => {
        if (snapshot?.terminal) answer(waiter, snapshot)
      })
      .catch(onError)
  const ended = createChunks((swapId) => Promise.allSettled(waiters.of(swapId).map(answerIfEnded)))
  const waiters = createWaiters(slots, (waiter) => void answerLatest(waiter))
  const look = async (): Promise<void> => {
    const waited = waiters.swapIds().filter((swapId) => !ended.isBusy(swapId))
    if (waited.length > 0) for (const swapId of await findEnded(waited)) ended.add(swapId)
  }
  const sweep = createSweep({ everyMs: sweepMs, look, onError })
  const hold = (request: StatusRead, latest: Snapshot): Promise<string> =>
    new Promise((resolve) => {
      const waiter = toWaiter(request, latest, resolve)
      waiters.add(waiter)
      request.onHeld?.(() => answer(waiter, latest))
    })

  return {
    async read(request) {
      const snapshot = isSwapId(request.swapId) ? await batch.read(request) : undefined
      if (!snapshot) throw new ServiceError('SWAP_NOT_FOUND')
      if (snapshot.terminal || request.waitMs === 0 || closing) return snapshot.json
      const asked = slots.acquire(request.accountId)
      if (!asked) return hold(request, snapshot)
      // The swap may have ended while the lease was awaited.
      const latest = (await asked.then(() => readAgain(request))) ?? snapshot
      if (!latest.terminal && !closing) return hold(request, latest)
      slots.release(request.accountId)
      return latest.json
    },
    swapEnded(swapId) {
      batch.forget(swapId)
      if (waiters.of(swapId).length > 0) ended.add(swapId)
    },
    setListening(listening) {
      batch.useMemory(listening)
      void sweep.run()
    },
    heldCount: slots.count,
    async close() {
      closing = true
      sweep.stop()
      await Promise.allSettled(waiters.all().map(answerLatest))
    },
  }
}

function toWaiter(request: StatusRead, latest: Snapshot, resolve: (json: string) => void): Waiter {
  const { accountId, swapId, waitMs } = request
  return {
    accountId,
    swapId,
    latest,
    waitMs,
    answer: ({ json }) => resolve(json),
  }
}

export type Waiter = SwapKey & { waitMs: number; latest: Snapshot; answer(snapshot: Snapshot): void }

type Waiters = {
  /** Adds a waiter that holds a slot; the slot is released when the waiter is removed. */
  add(waiter: Waiter): void
  /** False if the waiter was removed before. */
  remove(waiter: Waiter): boolean
  of(swapId: string): readonly Waiter[]
  all(): readonly Waiter[]
  swapIds(): readonly string[]
}

/** Held reads by swap, with a timer each. */
export function createWaiters(
  slots: Pick<ConnectionSlots, 'release'>,
  onDue: (waiter: Waiter) => void,
): Waiters {
  const timers = new Map<Waiter, NodeJS.Timeout>()
  const bySwap = new Map<string, Set<Waiter>>()

  return {
    add(waiter) {
      bySwap.set(waiter.swapId, (bySwap.get(waiter.swapId) ?? new Set()).add(waiter))
      timers.set(waiter, setTimeout(onDue, waiter.waitMs, waiter).unref())
    },
    remove(waiter) {
      const waiters = bySwap.get(waiter.swapId)
      if (!waiters?.delete(waiter)) return false
      if (waiters.size === 0) bySwap.delete(waiter.swapId)
      clearTimeout(timers.get(waiter))
      timers.delete(waiter)
      slots.release(waiter.accountId)
      return true
    },
    of: (swapId) => [...(bySwap.get(swapId) ?? [])],
    all: () => [...bySwap.values()].flatMap((waiters) => [...waiters]),
    swapIds: () => [...bySwap.keys()],
  }
}

/**
 * Runs `work` once per key, with a limit of keys per event loop turn, so that thousands of swaps that end at once do
 * not delay other calls. Ignores a key that is queued or in progress.
 */
export function createChunks(work: (key: string) => Promise<unknown>, perTurn = 128) {
  const busy = new Set<string>()
  let queue: string[] = []

  const turn = (): void => {
    const now = queue.slice(0, perTurn)
    queue = queue.slice(perTurn)
    if (queue.length > 0) setImmediate(turn)
    for (const key of now) void work(key).finally(() => busy.delete(key))
  }
  return {
    isBusy: (key: string): boolean => busy.has(key),
    add(key: string): void {
      if (busy.has(key)) return
      busy.add(key)
      queue.push(key)
      if (queue.length === 1) setImmediate(turn)
    },
  }
}
