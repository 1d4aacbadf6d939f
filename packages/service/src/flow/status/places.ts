import { ServiceError } from '../../errors.ts'

/** How many callers are held, by long polls and streams together. */
export type Places = {
  /** Refuses (429) when the account or the process already holds as many as it may. */
  take(accountId: string): void
  free(accountId: string): void
  count(): number
}

// How long a caller who cannot be held should leave us alone.
const BUSY_RETRY_MS = 1_000

type Limits = { maxHeldPerAccount?: number; maxHeld?: number }

export function createPlaces({ maxHeldPerAccount = 1_000, maxHeld = 10_000 }: Limits = {}): Places {
  const perAccount = new Map<string, number>()
  let held = 0
  return {
    take(accountId) {
      const mine = perAccount.get(accountId) ?? 0
      if (mine >= maxHeldPerAccount || held >= maxHeld) throw tooManyHeld(maxHeldPerAccount)
      perAccount.set(accountId, mine + 1)
      held++
    },
    free(accountId) {
      held--
      const mine = (perAccount.get(accountId) ?? 1) - 1
      if (mine > 0) perAccount.set(accountId, mine)
      else perAccount.delete(accountId)
    },
    count: () => held,
  }
}

function tooManyHeld(max: number): ServiceError {
  return new ServiceError('RATE_LIMITED', {
    message: `At most ${max} status reads and streams are held at once. Use ?wait=0, or wait for one to return.`,
    recovery: { retryAfterMs: BUSY_RETRY_MS },
  })
}
