import type { Swap } from '../../model/swap.ts'

/** The inputs that wait for one key, for several who lock beside each other. */
export type WaitingLocks = {
  /** Looks at the database; whoever asks before the look has begun shares it. */
  refresh(): Promise<void>
  /** The oldest that were found, for the caller alone until they are given back. */
  take(): readonly Swap[]
  giveBack(swaps: readonly Swap[]): void
  /** Whether the last look may have left some behind. */
  hasMore(): boolean
}

type Options = {
  find(limit: number): Promise<readonly Swap[]>
  /** How many are looked for: more than are taken, so that those that wait for something hold up no others. */
  limit: number
  takeSize: number
}

export function createWaitingLocks({ find, limit, takeSize }: Options): WaitingLocks {
  const inHand = new Set<string>()
  let found: readonly Swap[] = []
  let hasMore = false
  let running: Promise<void> = Promise.resolve()
  let next: Promise<void> | undefined

  const look = async (): Promise<void> => {
    next = undefined
    const rows = await find(limit)
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
    hasMore: () => hasMore,
  }
}
