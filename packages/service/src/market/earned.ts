import { within } from '../async/timing.ts'
import type { Catalog, CatalogChain, Market } from '../swap/catalog.ts'
import {
  createEarnedByHolding,
  type Earned,
  type Held,
  NOTHING_HELD,
  sumHeld,
  toTiers,
} from '../swap/discount.ts'
import { setNewest } from '../swap/group.ts'

type Parts = {
  readTokenBalance(chainId: number, owner: string, token: string): Promise<bigint>
  catalog: Catalog
  market: Market
  onFault(error: unknown, source: string): void
}

type Terms = {
  /** The asset whose holders pay less, by tier; undefined without a discount. */
  discount: { asset: string; tiers: Parameters<typeof toTiers>[0]; maxAgeSeconds: number } | undefined
}
type EarnedBy = (family: CatalogChain['family'], wallet: string) => Earned | Promise<Earned>

// Of the 300 ms in which the first quote of a wallet answers.
const WAIT_MS = 250

/** The discount that a wallet has earned by holding the service's token. */
export function createEarnedBy({ discount }: Terms, parts: Parts): EarnedBy {
  if (!discount) {
    const nothing = {}
    return () => nothing
  }
  const { asset, tiers, maxAgeSeconds } = discount
  const { earnedBy } = createHoldings({
    sourcesOf: (family) => sourcesOf(parts, asset, family),
    earnedOf: createEarnedByHolding(toTiers(tiers)),
    maxAgeMs: maxAgeSeconds * 1_000,
    now: Date.now,
    onFault: parts.onFault,
    wait: (reading) => within(WAIT_MS, reading),
  })
  return earnedBy
}

/** All tokens of the asset on the chains of one family. */
function sourcesOf(parts: Parts, asset: string, family: CatalogChain['family']): HoldingSource[] {
  const { catalog, market } = parts
  const tokens = [...catalog.chains.values()]
    .filter(({ family: own }) => own === family)
    .flatMap((chain) => chain.tokens)
    .filter((token) => token.asset === asset)
  return tokens.map(({ chainId, address, decimals }) => ({
    decimals,
    readBalance(owner) {
      // Balances on a chain that stands still are as old as its head.
      if (!market.chainNow(chainId)) return undefined
      return parts.readTokenBalance(chainId, owner, address)
    },
  }))
}

type Family = CatalogChain['family']

/** A token of the asset that earns the discount. */
type HoldingSource = {
  decimals: number
  /** Undefined while the chain cannot be read. */
  readBalance(owner: string): Promise<bigint> | undefined
}

export type HoldingOptions = {
  sourcesOf(family: Family): readonly HoldingSource[]
  earnedOf(held: Held): Earned
  /** An older holding is not used, so that selling ends the discount. */
  maxAgeMs: number
  now(): number
  /** How long the first quote of a wallet waits for its holding. */
  wait(reading: Promise<void>): Promise<unknown>
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
type Known = { earned: Earned; readAt: number; isWhole: boolean; dueAt: number; reading?: Promise<void> }

/**
 * The discount that a wallet has earned, from memory. The first quote of a wallet waits a moment for the read. Later
 * ones refresh a holding in the background, at half of its maximum age.
 */
export function createHoldings(options: HoldingOptions) {
  const { sourcesOf, earnedOf, maxAgeMs, now, onFault } = options
  const limits = { ...LIMITS, ...options.limits }
  const nothing = earnedOf(NOTHING_HELD)
  const known = new Map<string, Known>()
  const queue = createQueue(limits)

  const isUsable = ({ readAt }: Known, at: number) => at - readAt <= maxAgeMs

  function refresh(family: Family, wallet: string): void {
    if (queue.isFull()) return
    const entry = known.get(wallet) ?? {
      earned: nothing,
      readAt: -Infinity,
      isWhole: false,
      dueAt: 0,
    }
    entry.dueAt = Infinity
    // Keeps insertion order by last read, because a holding that is not read again soon expires.
    setNewest(known, wallet, entry, limits.wallets)
    entry.reading = queue.add(() => read(entry, sourcesOf(family), wallet))
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
      entry.earned = earnedOf(sumHeld(parts))
      entry.readAt = readAt
      entry.isWhole = isWhole
    }
    entry.dueAt = isWhole ? readAt + maxAgeMs / 2 : now() + RETRY_MS
  }

  const uncertain = new Map<Earned, Earned>()
  /** One object per tier, so that quotes allocate nothing. */
  function asUncertain(earned: Earned): Earned {
    const found = uncertain.get(earned) ?? { ...earned, isUncertain: true }
    uncertain.set(earned, found)
    return found
  }
  function earnedOfEntry(entry: Known | undefined): Earned {
    if (entry === undefined || !isUsable(entry, now())) return asUncertain(nothing)
    return entry.isWhole ? entry.earned : asUncertain(entry.earned)
  }

  return {
    earnedBy(family: Family, wallet: string): Earned | Promise<Earned> {
      const at = now()
      const entry = known.get(wallet)
      if (entry === undefined || at >= entry.dueAt) refresh(family, wallet)
      if (entry !== undefined && isUsable(entry, at)) return earnedOfEntry(entry)
      const { reading } = known.get(wallet) ?? {}
      if (reading === undefined) return asUncertain(nothing)
      return options.wait(reading).then(() => earnedOfEntry(known.get(wallet)))
    },
  }
}

async function readHeld({ readBalance, decimals }: HoldingSource, owner: string): Promise<Held | undefined> {
  const amount = await readBalance(owner)
  return amount === undefined ? undefined : { amount, decimals }
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
    add(work: () => Promise<void>): Promise<void> {
      return new Promise((resolve) => {
        queued.push(() => work().finally(resolve))
        // Lets a quote that does not wait answer before the read starts.
        queueMicrotask(next)
      })
    },
  }
}
