import type { ConnectionSlots } from './connection-slots.ts'
import type { Snapshot, SwapKey } from './read-statuses.ts'

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
