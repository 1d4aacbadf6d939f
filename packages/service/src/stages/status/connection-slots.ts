import { ServiceError } from '../../errors.ts'

/** Limits the number of held connections, long polls and streams together. */
export type ConnectionSlots = {
  /**
   * Throws 429 when the account or the process is at its limit. Returns a promise when the shared lease has to grow
   * first.
   */
  acquire(accountId: string): void | Promise<void>
  release(accountId: string): void
  count(): number
  /** Extends leases that are in use and gives back the rest. */
  renew(): Promise<void>
  close(): Promise<void>
}

/**
 * Leases up to `want` connections of an account for this process, including those it holds; returns how many it got.
 */
type LeaseSlots = (accountId: string, want: number) => Promise<number>

type Options = {
  maxHeldPerAccount?: number
  maxHeld?: number
  /** Without it the limit is this process's own. */
  lease?: LeaseSlots
}

// The retry delay for a refused caller.
const BUSY_RETRY_MS = 1_000
/** Connections per account that a process holds without a lease, and how many more it leases at a time. */
const OWN = 20
const SLICE = 50

/** Connection slots shared by all processes: leased in slices, so that most callers need no database call. */
export function createConnectionSlots(options: Options = {}): ConnectionSlots {
  const { maxHeldPerAccount: most = 1_000, maxHeld = 10_000, lease } = options
  const own = lease ? Math.min(OWN, most) : most
  const accounts = new Map<string, Account>()
  let held = 0

  function occupyInProcess(): void {
    if (held >= maxHeld) throw tooManyHeld(most)
    held += 1
  }

  function accountOf(accountId: string): Account {
    const ask = async (want: number) => (await lease?.(accountId, want)) ?? own
    const account = accounts.get(accountId) ?? createAccount({ own, most, ask, occupyInProcess })
    accounts.set(accountId, account)
    return account
  }

  return {
    acquire: (accountId) => accountOf(accountId).acquire(),
    release(accountId) {
      held -= 1
      const account = accountOf(accountId)
      account.release()
      if (account.isIdle()) accounts.delete(accountId)
    },
    count: () => held,
    async renew() {
      for (const [accountId, account] of accounts) {
        await account.renew()
        if (account.isIdle()) accounts.delete(accountId)
      }
    },
    async close() {
      for (const account of accounts.values()) await account.giveBack()
    },
  }
}

type AccountOptions = {
  own: number
  most: number
  ask(want: number): Promise<number>
  /** Throws when the process is full. */
  occupyInProcess(): void
}
type Account = ReturnType<typeof createAccount>

function createAccount({ own, most, ask, occupyInProcess }: AccountOptions) {
  let held = 0
  let granted = own
  let asked: Promise<void> | undefined

  function occupy(): void {
    occupyInProcess()
    held += 1
  }

  function lease(want: number): Promise<void> {
    asked ??= ask(want)
      .then((slots) => {
        granted = Math.max(own, slots)
      })
      .finally(() => {
        asked = undefined
      })
    return asked
  }

  async function acquireLeased(): Promise<void> {
    // A lease under way may be for fewer. A first one begins at once, so that the account is not idle meanwhile.
    if (asked) await asked
    if (held < granted) return occupy()
    const before = granted
    await lease(Math.min(most, held + SLICE))
    if (held < granted) return occupy()
    // Other processes hold the rest.
    if (granted <= before) throw tooManyHeld(most)
    return acquireLeased()
  }

  return {
    acquire(): void | Promise<void> {
      if (held < granted) return occupy()
      if (held >= most) throw tooManyHeld(most)
      return acquireLeased()
    },
    release(): void {
      held -= 1
    },
    isIdle: () => held === 0 && granted <= own && !asked,
    /** Leases the held connections and a slice; the rest is for other processes. */
    async renew(): Promise<void> {
      if (granted > own) await lease(held <= own ? 0 : Math.min(granted, held + SLICE))
    },
    async giveBack(): Promise<void> {
      if (granted > own) await ask(0)
    },
  }
}

function tooManyHeld(max: number): ServiceError {
  return new ServiceError('RATE_LIMITED', {
    message: `At most ${max} status reads and streams are held at once. Use ?wait=0, or wait for one to return.`,
    recovery: { retryAfterMs: BUSY_RETRY_MS },
  })
}
