import type { Pool } from 'pg'
import { createRecent } from '../async/cache.ts'
import { atMostEvery } from '../async/timing.ts'
import { createBookkeeper } from '../books/ledger/bookkeeper.ts'
import type { Chain, Heads } from '../chains/chain.ts'
import type { ConnectedChain } from '../chains/families.ts'
import type { Sweeping } from '../chains/family.ts'
import { createGasBook } from '../engine/books.ts'
import type { HeadFollower } from '../engine/chain-follower.ts'
import type { Task } from '../engine/lane.ts'
import type { ViewOfChain } from '../engine/views.ts'
import type { Logger } from '../observe/logger.ts'
import type { DeliverDeps } from '../stages/deliver/deliver.ts'
import { sweepMarkers } from '../stages/deliver/sweep.ts'
import { type ProposeDeps, proposeOutcomes } from '../stages/settle/propose.ts'
import { releaseDeferred } from '../stages/settle/relay.ts'
import type { Lease } from '../store/lanes.ts'
import { readLedgerBalances } from '../store/ledger.ts'
import type { Topic } from '../store/wakes.ts'
import { type PriceE18, usdE18 } from '../swap/amount.ts'
import { type Catalog, findToken } from '../swap/catalog.ts'
import { sendersOf } from '../swap/served-chain.ts'

const PROPOSE_MS = 500
// The longest wait of deferred claims after an hour of their cap has ended.
const DEFERRED_LOOK_MS = 5_000

type SettleParts = Omit<ProposeDeps, 'pool' | 'origin'> & {
  pool: Pool
  chain: Chain
  current(): Heads | undefined
}

/** Proposes outcomes to the attesters, and releases claims that the cap of an earlier hour deferred. */
export function createSettleTasks({ pool, chain, current, ...deps }: SettleParts): Task[] {
  const propose = atMostEvery(PROPOSE_MS, (heads: Heads) =>
    proposeOutcomes({ pool, origin: chain, ...deps }, heads),
  )
  const release = atMostEvery(DEFERRED_LOOK_MS, (heads: Heads) =>
    releaseDeferred({ pool, origin: chain }, heads),
  )
  const taskOf = (topics: readonly Topic[], work: (heads: Heads) => Promise<void>): Task => ({
    topics,
    async step() {
      const heads = current()
      if (heads) await work(heads)
    },
  })
  return [taskOf([`head:${chain.chainId}`], propose), taskOf([], release)]
}

// Markers wait for days: it does not matter when they are closed.
const IDLE_MS = 60_000
// Sweeps are final after some seconds. Then the next ones follow, so that markers do not pile up.
const BUSY_MS = 2_000

/** Returns the rent of deliveries' markers. */
export function sweepWork(chainId: number, { pool, sender }: DeliverDeps, sweeping: Sweeping) {
  const deps = { pool, sender, chainId, ...sweeping }
  let due = 0
  let next: number | undefined
  return {
    topics: [],
    // A new sender has no room until it knows what is in flight; the first sweep follows at once.
    run: async (lease: Lease, heads?: Heads) => {
      const now = performance.now()
      if (!heads || sender.room() === 0 || now < due) return true
      const swept = await sweepMarkers(deps, lease, heads, next)
      next = swept.next
      due = now + (swept.isBusy ? BUSY_MS : IDLE_MS)
      return true
    },
  }
}

// Three readings confirm a mismatch: missing funds stop quotes within seconds of their block's finality.
const READ_MS = 3_000
const E12 = 10n ** 12n

type Parts = { pool: Pool; catalog: Catalog; logger: Logger }
type GasParts = { pool: Pool; prices: { priceOf(asset: string): PriceE18 | undefined } }

/** Keeps the ledger of a chain beside its watch, in one process at a time. */
export function createLedgerTask(
  parts: Parts,
  { config, custody }: ConnectedChain,
  follower: HeadFollower,
): Task {
  const { pool, catalog, logger } = parts
  const { chainId, name } = config
  const book = createBookkeeper({
    pool,
    chain: custody,
    assetOf(token) {
      const chain = catalog.chains.get(chainId)
      return chain && findToken(chain, token)?.asset
    },
    onDrift: ({ token: tokenAddress, ...drift }) =>
      logger.error({ chain: name, tokenAddress, ...drift }, 'drift: quotes are stopped'),
    onMended: (stopId) => logger.info({ chain: name, stopId }, 'drift is over: quotes resume'),
  })
  let nextAt = 0
  return {
    topics: [`head:${chainId}`],
    async step() {
      if (performance.now() < nextAt) return
      nextAt = performance.now() + READ_MS
      await book(() => follower.current()?.hard)
    },
  }
}

function readBalances(view: Pick<ViewOfChain, 'part'>, keys: readonly string[]) {
  const known = view.part('state')?.value.balances
  if (!known) return undefined
  return new Map(
    keys.flatMap((key) => {
      const balance = known[key]
      return balance === undefined ? [] : [[key, balance] as const]
    }),
  )
}

/** All fees paid so far, as a balance that only falls. */
async function readFees(pool: Pool, chainId: number, token: string) {
  const booked = await readLedgerBalances(pool, chainId)
  const paid = booked.find((each) => each.account === 'network' && each.token === token)
  return new Map([['network', -(paid?.amount ?? 0n)]])
}

/** Books the gas that the sending keys of a chain spend. The gas float pays top-ups, and is not one of them. */
export function createGasTask(
  { pool, prices }: GasParts,
  { config, family, senders, nativeToken }: ConnectedChain,
  view: Pick<ViewOfChain, 'part'>,
): Task {
  const { chainId } = config
  const readKeys = async () => readBalances(view, sendersOf({ senders }))
  // The ledger, which has the fees of such a chain, is not read more often either.
  const fees = createRecent(READ_MS, () => readFees(pool, chainId, nativeToken.address))
  return createGasBook({
    pool,
    chainId,
    read: family.traits.paysOnlyFees ? readKeys : fees.read,
    usdE6Of: gasValueOf({ prices }, config, nativeToken),
  })
}

/** The value of a chain's gas coin in millionths of a US dollar; undefined without a price. */
export function gasValueOf(
  { prices }: Pick<GasParts, 'prices'>,
  { native }: Pick<ConnectedChain['config'], 'native'>,
  { decimals }: Pick<ConnectedChain['nativeToken'], 'decimals'>,
) {
  return (amount: bigint): bigint | undefined => {
    const price = prices.priceOf(native.asset)
    return price && usdE18(amount, { decimals, price }) / E12
  }
}
