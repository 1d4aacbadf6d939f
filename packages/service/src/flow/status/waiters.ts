import type { Places } from './places.ts'
import type { Snapshot, SwapKey } from './read-statuses.ts'
import { createWheel } from './wheel.ts'

export type Waiter = SwapKey & { deadline: number; latest: Snapshot; answer(snapshot: Snapshot): void }

export type Waiters = {
  /** Its place is taken already, and is free again when it leaves. */
  add(waiter: Waiter): void
  /** False when the waiter has left or was answered before. */
  remove(waiter: Waiter): boolean
  of(swapId: string): readonly Waiter[]
  all(): readonly Waiter[]
  swapIds(): readonly string[]
  /** No deadline calls back any more. */
  stop(): void
}

/** Who is held, by swap, with their deadlines. */
export function createWaiters(places: Pick<Places, 'free'>, onDue: (waiter: Waiter) => void): Waiters {
  const wheel = createWheel(onDue)
  const bySwap = new Map<string, Set<Waiter>>()

  return {
    add(waiter) {
      bySwap.set(waiter.swapId, (bySwap.get(waiter.swapId) ?? new Set()).add(waiter))
      wheel.add(waiter)
    },
    remove(waiter) {
      const waiters = bySwap.get(waiter.swapId)
      if (!waiters?.delete(waiter)) return false
      if (waiters.size === 0) bySwap.delete(waiter.swapId)
      wheel.remove(waiter)
      places.free(waiter.accountId)
      return true
    },
    of: (swapId) => [...(bySwap.get(swapId) ?? [])],
    all: () => [...bySwap.values()].flatMap((waiters) => [...waiters]),
    swapIds: () => [...bySwap.keys()],
    stop: wheel.stop,
  }
}
