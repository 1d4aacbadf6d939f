import type { CatalogChain } from '../model/catalog.ts'
import { type Held, NOTHING_HELD, type ServiceFee, sumHeld } from '../model/discount.ts'

type Family = CatalogChain['family']

/** A token of the asset that earns the discount. */
export type HoldingSource = {
  decimals: number
  /** Undefined while the chain cannot be read. */
  readBalance(owner: string): Promise<bigint> | undefined
}

export type HoldingOptions = {
  sources: Readonly<Record<Family, readonly HoldingSource[]>>
  feeOf(held: Held): ServiceFee
  /** An older holding is not used, so that selling ends the discount. */
  maxAgeMs: number
  now(): number
  onFault(error: unknown, source: string): void
  limits?: Partial<typeof LIMITS>
}

const LIMITS = {
  /** Cached wallets, of 200 bytes each. */
  wallets: 50_000,
  /** Wallets whose holdings are read concurrently. */
  reads: 32,
  /** Queued wallets. Beyond that, the next quote of a wallet asks again. */
  waiting: 1_000,
}
// Pause before reading a failed part of a holding again.
const RETRY_MS = 5_000

/** `dueAt`: when to read again; infinite during a read. */
type Known = { fee: ServiceFee; readAt: number; isWhole: boolean; dueAt: number }

/**
 * The fee of a wallet by its holdings, from memory, so that a quote never waits. The first quote of a wallet starts a
 * background read and has no discount. Later quotes refresh a holding at half of its maximum age.
 */
export function createHoldings(options: HoldingOptions) {
  const { sources, feeOf, maxAgeMs, now, onFault } = options
  const limits = { ...LIMITS, ...options.limits }
  const undiscounted = feeOf(NOTHING_HELD)
  const known = new Map<string, Known>()
  const queue = createQueue(limits)

  const isUsable = ({ readAt }: Known, at: number) => at - readAt <= maxAgeMs

  function refresh(family: Family, wallet: string): void {
    if (queue.isFull()) return
    const entry = known.get(wallet) ?? {
      fee: undiscounted,
      readAt: -Infinity,
      isWhole: false,
      dueAt: 0,
    }
    entry.dueAt = Infinity
    // Keeps insertion order by last read, because a holding that is not read again soon expires.
    known.delete(wallet)
    known.set(wallet, entry)
    if (known.size > limits.wallets) forgetOldest(known)
    queue.add(() => read(entry, sources[family], wallet))
  }

  async function read(entry: Known, tokens: readonly HoldingSource[], wallet: string): Promise<void> {
    const readAt = now()
    const answers = await Promise.allSettled(tokens.map((token) => readHeld(token, wallet)))
    for (const answer of answers) if (answer.status === 'rejected') onFault(answer.reason, 'holdings')
    const parts = answers.flatMap((answer) =>
      answer.status === 'fulfilled' && answer.value ? [answer.value] : [],
    )
    const isWhole = parts.length === tokens.length
    // Unread parts count as zero, but do not replace a complete holding that is still usable.
    if (isWhole || !entry.isWhole || !isUsable(entry, now())) {
      entry.fee = feeOf(sumHeld(parts))
      entry.readAt = readAt
      entry.isWhole = isWhole
    }
    entry.dueAt = isWhole ? readAt + maxAgeMs / 2 : now() + RETRY_MS
  }

  return {
    feeFor(family: Family, wallet: string): ServiceFee {
      const at = now()
      const entry = known.get(wallet)
      if (entry === undefined || at >= entry.dueAt) refresh(family, wallet)
      return entry !== undefined && isUsable(entry, at) ? entry.fee : undiscounted
    },
  }
}

async function readHeld({ readBalance, decimals }: HoldingSource, owner: string): Promise<Held | undefined> {
  const amount = await readBalance(owner)
  return amount === undefined ? undefined : { amount, decimals }
}

function forgetOldest(known: Map<string, Known>): void {
  const [oldest] = known.keys()
  if (oldest !== undefined) known.delete(oldest)
}

/** Limits concurrency; further work waits in order. */
function createQueue({ reads, waiting }: typeof LIMITS) {
  const queued: (() => Promise<void>)[] = []
  let running = 0
  function next(): void {
    while (running < reads) {
      const work = queued.shift()
      if (!work) return
      running += 1
      void work().finally(() => {
        running -= 1
        next()
      })
    }
  }
  return {
    isFull: () => queued.length >= waiting,
    add(work: () => Promise<void>): void {
      queued.push(work)
      // Lets the quote answer before the read starts.
      queueMicrotask(next)
    },
  }
}
