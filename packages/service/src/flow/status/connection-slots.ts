import { ServiceError } from '../../errors.ts'

/** How many callers are held, by long polls and streams together. */
export type ConnectionSlots = {
  /**
   * Refuses (429) when the account or the process already holds as many as it may. A promise when other processes
   * have to be asked first.
   */
  acquire(accountId: string): void | Promise<void>
  release(accountId: string): void
  count(): number
  /** Leases what is held for longer, and gives back what is not. */
  renew(): Promise<void>
  close(): Promise<void>
}

/** How many of its callers an account lets this process hold, of all that it wants to, with those it has. */
type LeaseSlots = (accountId: string, want: number) => Promise<number>

type Options = {
  maxHeldPerAccount?: number
  maxHeld?: number
  /** Without it no other process holds anybody. */
  lease?: LeaseSlots
}

// How long a caller who cannot be held should leave us alone.
const BUSY_RETRY_MS = 1_000
/** What a process holds of each account without asking anybody, and how many more it asks for at a time. */
const OWN = 20
const SLICE = 50

/** ConnectionSlots that all processes share: leased in slices, so that most callers are held without a question. */
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
    // What is being asked already may be for fewer.
    await asked
    if (held < granted) return occupy()
    const before = granted
    await lease(Math.min(most, held + SLICE))
    if (held < granted) return occupy()
    // Nobody gave more: other processes hold the rest.
    if (granted <= before) throw tooManyHeld(most)
    return acquireLeased()
  }

  return {
    acquire(): void | Promise<void> {
      if (held < granted) return occupy()
      if (held >= most || own >= most) throw tooManyHeld(most)
      return acquireLeased()
    },
    release(): void {
      held -= 1
    },
    isIdle: () => held === 0 && granted <= own && !asked,
    /** For what is held and a slice: the rest is for other processes. */
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
