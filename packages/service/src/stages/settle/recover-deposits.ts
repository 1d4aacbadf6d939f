import type { Pool, PoolClient } from 'pg'
import { atMostEvery } from '../../async/timing.ts'
import type { Heads, Held, OriginChain, OriginWays } from '../../chains/chain.ts'
import type { Sender } from '../../engine/sender.ts'
import type { ViewOfChain } from '../../engine/views.ts'
import { isolate } from '../../isolate.ts'
import {
  findFinalRecoveries,
  findPastDeposits,
  findReturns,
  findTried,
  noteRecovery,
  noteTry,
  type PastPlace,
} from '../../store/deposits.ts'
import type { Lease } from '../../store/lanes.ts'
import { largest, type PriceE18, tenTo, usdE18 } from '../../swap/amount.ts'
import type { GasBudgets } from '../../swap/budgets.ts'
import { type Catalog, findToken } from '../../swap/catalog.ts'
import { GAS } from '../../swap/gas.ts'
import { collectError, throwFirst } from '../../swap/group.ts'
import type { Swap } from '../../swap/swap.ts'

export type RecoverDeps = {
  pool: Pool
  chainId: number
  ways: OriginWays
  sender: Sender
  /** The tokens that are looked for at the addresses: an owner may send another one than the input. */
  tokens: readonly string[]
  refreshPrices(): Promise<void>
  /** Whether an amount is worth more than the transaction that sends it back; undefined without prices. */
  isWorth(held: Held): boolean | undefined
  /** How many returns the hour's budget of an account pays for; undefined without prices. */
  mostReturns(): bigint | undefined
}

// Deposits of ops whose deadline is longer past are left to their owners: anyone can send them back with
// `geoswap recover`.
const WATCHED_SECONDS = 86_400
const SEEN_AT_ONCE = 200

/**
 * Sends deposits that were not locked back to their wallets, once the deadline of the op is past in a hard-final
 * block: wrong amounts, second or late transfers, other tokens. Each token is tried once, and only if it would arrive:
 * a wallet or a token that refuses must not cost gas again and again. An account has a budget for returns, beyond which
 * they wait for the next hour. Handles one page of swaps after the given one. Returns the last of them, or undefined at
 * the end of the list. A swap that fails does not stop the others.
 */
export async function recoverDeposits(
  deps: RecoverDeps,
  lease: Lease,
  heads: Heads,
  after: PastPlace | undefined,
  faults: unknown[],
): Promise<PastPlace | undefined> {
  const { seconds } = heads.hard
  const first = { opDeadline: seconds - WATCHED_SECONDS + 1, id: '' }
  const from = after && after.opDeadline >= first.opDeadline ? after : first
  const asked = { chainId: deps.chainId, seconds, after: from, limit: SEEN_AT_ONCE }
  const past = await findPastDeposits(deps.pool, asked)
  await collectError(faults, () => recoverAll(deps, lease, heads, past, faults))
  const last = past.at(-1)
  return last && past.length === SEEN_AT_ONCE ? { opDeadline: last.op.opDeadline, id: last.id } : undefined
}

async function recoverAll(
  deps: RecoverDeps,
  lease: Lease,
  heads: Heads,
  past: readonly Swap[],
  faults: unknown[],
): Promise<void> {
  if (past.length === 0) return
  const { pool, chainId, ways, tokens } = deps
  const ops = past.map(({ op }) => op)
  const held = await ways.readDeposits(ops, tokens, heads.hard)
  if (![...held.values()].some((each) => each.length > 0)) return
  const now = await ways.readDeposits(ops, tokens, heads.head)
  await deps.refreshPrices()
  const most = deps.mostReturns()
  if (most === undefined) return
  const [tried, returns] = [await findTried(pool, past), await findReturns(pool, chainId, past)]
  for (const swap of past) {
    const { hash } = swap.op
    const isThere = ({ token }: Held) => now.get(hash)?.some((each) => each.token === token)
    const isNew = ({ token }: Held) => !tried.get(swap.id)?.has(token)
    const [first] = (held.get(hash) ?? []).filter(
      (each) => isThere(each) && isNew(each) && deps.isWorth(each),
    )
    const ofAccount = returns.get(swap.id) ?? { count: 0 }
    const subject = { step: 'send back deposit', id: swap.id }
    if (!first || ofAccount.count >= most) continue
    const isSent = await isolate(faults, subject, () => recover(deps, { lease, heads, swap, held: first }))
    if (isSent) ofAccount.count += 1
  }
}

type Due = { lease: Lease; heads: Heads; swap: Swap; held: Held }

async function recover(deps: RecoverDeps, { lease, heads, swap, held: { token } }: Due): Promise<boolean> {
  const { pool, ways, sender } = deps
  if (sender.room() === 0) return false
  const request = await ways.planRecover(swap.op, token)
  if (!(await ways.wouldRecover(request, sender.address, heads))) {
    await noteTry(pool, swap, token)
    return false
  }
  const record = (db: PoolClient) => noteTry(db, swap, token)
  return sender.send(lease, heads, { role: 'recover', request, swapIds: [swap.id], record })
}

type Deps = { pool: Pool; chainId: number }

// More wait for the next head: a swap does not.
const NOTED_AT_ONCE = 100

/** Tells swaps what went back from the addresses of their ops to their wallets, in hard-final blocks. */
export async function noteRecoveries(
  { pool, chainId }: Deps,
  { hard }: Pick<Heads, 'hard'>,
  faults: unknown[],
): Promise<void> {
  const events = await findFinalRecoveries(pool, { chainId, hard: hard.number, limit: NOTED_AT_ONCE })
  for (const event of events)
    await isolate(faults, { step: 'note recovery', id: `${chainId} ${event.id}` }, () =>
      noteRecovery(pool, chainId, event),
    )
}

type WorkDeps = {
  pool: Pool
  chain: Pick<OriginChain, 'chainId' | 'ways'>
  catalog: Catalog
  prices: { priceOf(asset: string): PriceE18 | undefined; refresh(): Promise<void> }
  sender: Sender
  /** The chain as followed, for its price of gas. */
  view: Pick<ViewOfChain, 'part'>
  gasBudgets: Pick<GasBudgets, 'accountCents'>
}

// A late deposit is not urgent: its owner can also send it back himself.
const LOOK_MS = 5_000

/** Sends back what lies at the addresses of ops that are over, page by page. */
export function createRecoverWork(deps: WorkDeps) {
  const { pool, catalog, prices, sender } = deps
  const { chainId, ways } = deps.chain
  const tokens = catalog.chains.get(chainId)?.tokens.map(({ address }) => address) ?? []
  const costs = createReturnCosts(deps)
  const recovering = { pool, chainId, sender, tokens, refreshPrices: prices.refresh, ...costs }
  let after: PastPlace | undefined
  const look = atMostEvery(LOOK_MS, async (lease: Lease, heads: Heads) => {
    if (!ways) return
    const faults: unknown[] = []
    after = await recoverDeposits({ ...recovering, ways }, lease, heads, after, faults)
    throwFirst(faults)
  })
  return {
    topics: [],
    run: async (lease: Lease, heads?: Heads) => {
      if (heads) await look(lease, heads)
      return true
    },
  }
}

// A return must be worth this many times its transaction.
const WORTH = 2n

type CostDeps = Pick<WorkDeps, 'catalog' | 'view' | 'gasBudgets'> & {
  chain: Pick<OriginChain, 'chainId'>
  prices: Pick<WorkDeps['prices'], 'priceOf'>
}

export function createReturnCosts(deps: CostDeps): Pick<RecoverDeps, 'isWorth' | 'mostReturns'> {
  const { catalog, prices, view, gasBudgets } = deps
  const served = () => catalog.chains.get(deps.chain.chainId)
  /** The price of a return in USD, with 18 decimals; undefined without prices. */
  const costE18 = (): bigint | undefined => {
    const native = served()?.native
    const coin = native && prices.priceOf(native.asset)
    const perGas = view.part('costs')?.value.gasPrice
    if (!native || !coin || perGas === undefined) return undefined
    return usdE18(GAS.recover * perGas, { decimals: native.decimals, price: coin })
  }
  return {
    isWorth({ token, amount }) {
      const chain = served()
      const known = chain && findToken(chain, token)
      const price = known && prices.priceOf(known.asset)
      const cost = costE18()
      if (!known || !price || cost === undefined) return undefined
      return usdE18(amount, { decimals: known.decimals, price }) >= WORTH * cost
    },
    mostReturns() {
      const cost = costE18()
      if (cost === undefined) return undefined
      // A chain may ask nothing for gas.
      return largest((BigInt(gasBudgets.accountCents) * tenTo(16)) / largest(cost, 1n), 1n)
    },
  }
}
