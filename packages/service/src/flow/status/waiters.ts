import { ServiceError } from '../../errors.ts'
import type { Snapshot, SwapKey } from './read-statuses.ts'
import { createWheel } from './wheel.ts'

export type Waiter = SwapKey & { deadline: number; latest: Snapshot; answer(snapshot: Snapshot): void }

export type Waiters = {
  /** Refuses (429) when the account or the process already holds as many as it may. */
  add(waiter: Waiter): void
  /** False when the waiter has left or was answered before. */
  remove(waiter: Waiter): boolean
  of(swapId: string): readonly Waiter[]
  all(): readonly Waiter[]
  swapIds(): readonly string[]
  count(): number
  /** No deadline calls back any more. */
  stop(): void
}

// How long a caller who cannot be held should leave us alone.
const BUSY_RETRY_MS = 1_000

type Limits = { maxHeldPerAccount?: number; maxHeld?: number }

/** Who is held, by swap, with their deadlines, and how many each account has. */
export function createWaiters(limits: Limits, onDue: (waiter: Waiter) => void): Waiters {
  const wheel = createWheel(onDue)
  const { maxHeldPerAccount = 1_000, maxHeld = 10_000 } = limits
  const bySwap = new Map<string, Set<Waiter>>()
  const perAccount = new Map<string, number>()
  let held = 0

  return {
    add(waiter) {
      const mine = perAccount.get(waiter.accountId) ?? 0
      if (mine >= maxHeldPerAccount || held >= maxHeld) throw tooManyHeld(maxHeldPerAccount)
      perAccount.set(waiter.accountId, mine + 1)
      held++
      bySwap.set(waiter.swapId, (bySwap.get(waiter.swapId) ?? new Set()).add(waiter))
      wheel.add(waiter)
    },
    remove(waiter) {
      const waiters = bySwap.get(waiter.swapId)
      if (!waiters?.delete(waiter)) return false
      if (waiters.size === 0) bySwap.delete(waiter.swapId)
      wheel.remove(waiter)
      held--
      const mine = (perAccount.get(waiter.accountId) ?? 1) - 1
      if (mine > 0) perAccount.set(waiter.accountId, mine)
      else perAccount.delete(waiter.accountId)
      return true
    },
    of: (swapId) => [...(bySwap.get(swapId) ?? [])],
    all: () => [...bySwap.values()].flatMap((waiters) => [...waiters]),
    swapIds: () => [...bySwap.keys()],
    count: () => held,
    stop: wheel.stop,
  }
}

function tooManyHeld(max: number): ServiceError {
  return new ServiceError('RATE_LIMITED', {
    message: `At most ${max} status reads are held at once. Use ?wait=0, or wait for one to return.`,
    recovery: { retryAfterMs: BUSY_RETRY_MS },
  })
}
