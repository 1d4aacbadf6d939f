import type { Swap } from '../../model/swap.ts'

/** The inputs that wait for one key, shared by concurrent lock tasks. */
export type WaitingLocks = {
  /** Reads the database; calls before the reading begins share it. */
  refresh(): Promise<void>
  /** The oldest inputs found, reserved for the caller until they are given back. */
  take(): readonly Swap[]
  giveBack(swaps: readonly Swap[]): void
  /** Whether the last reading found any. */
  hasAny(): boolean
  /** Whether it may have left some out. */
  hasMore(): boolean
}

type Options = {
  find(limit: number): Promise<readonly Swap[]>
  /** How many to read: more than are taken, so that blocked inputs do not hold up others. */
  limit: number
  takeSize: number
}

export function createWaitingLocks({ find, limit, takeSize }: Options): WaitingLocks {
  const inHand = new Set<string>()
  let found: readonly Swap[] = []
  let [hasAny, hasMore] = [false, false]
  let running: Promise<void> = Promise.resolve()
  let next: Promise<void> | undefined

  const look = async (): Promise<void> => {
    next = undefined
    const rows = await find(limit)
    hasAny = rows.length > 0
    hasMore = rows.length === limit
    found = rows.filter(({ id }) => !inHand.has(id))
  }
  return {
    refresh() {
      next ??= running.then(look)
      running = next.catch(() => {})
      return next
    },
    take() {
      const taken = found.slice(0, takeSize)
      found = found.slice(takeSize)
      for (const { id } of taken) inHand.add(id)
      return taken
    },
    giveBack(swaps) {
      for (const { id } of swaps) inHand.delete(id)
    },
    hasAny: () => hasAny,
    hasMore: () => hasMore,
  }
}
