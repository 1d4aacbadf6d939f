import type { Pool } from 'pg'
import { atMostEvery } from '../async/timing.ts'
import type { Heads } from '../chains/chain.ts'
import type { ConnectedChain } from '../chains/families.ts'
import type { Moves } from '../engine/advance.ts'
import type { HeadFollower } from '../engine/chain-follower.ts'
import type { Task } from '../engine/lane.ts'
import type { Sender } from '../engine/sender.ts'
import type { ViewOfChain } from '../engine/views.ts'
import { createDepositTransactions, type Received, seeDeposits } from '../stages/lock/see-deposits.ts'
import { createReturnCosts, recoverDeposits } from '../stages/settle/recover-deposits.ts'
import type { PastPlace } from '../store/deposits.ts'
import type { Lease } from '../store/lanes.ts'
import type { Topic } from '../store/wakes.ts'
import type { PriceE18 } from '../swap/amount.ts'
import type { GasBudgets } from '../swap/budgets.ts'
import type { Catalog } from '../swap/catalog.ts'
import { throwFirst } from '../swap/group.ts'

type Parts = {
  pool: Pool
  catalog: Catalog
  prices: { priceOf(asset: string): PriceE18 | undefined; refresh(): Promise<void> }
}

/** Looks for deposits at each new head of a chain, and apart from that for their transactions. */
export function createDepositTasks(
  { pool }: Pick<Parts, 'pool'>,
  { chain }: Pick<ConnectedChain, 'chain'>,
  { follower, moves }: { follower: HeadFollower; moves: Moves },
): Task[] {
  const { ways, chainId } = chain
  if (!ways) return []
  const transactions = createDepositTransactions({ pool, ways })
  const topic: Topic = `deposits:${chainId}`
  let done: string | undefined
  let after: string | undefined
  // The heads at which the last pass over all that wait began, and this one.
  let since: bigint | undefined
  let begun: bigint | undefined
  const see: Task = {
    topics: [`head:${chainId}`],
    async step(_lease, wake) {
      const heads = follower.current()
      if (!heads || heads.head.hash === done) return
      const onReceived = (received: Received) => {
        transactions.add(received)
        wake(topic)
      }
      const deps = { pool, chainId, ways, moves, onReceived }
      begun ??= heads.head.number
      const faults: unknown[] = []
      after = await seeDeposits(deps, heads, { after, since }, faults)
      if (after === undefined) [since, begun] = [begun, undefined]
      throwFirst(faults)
      done = heads.head.hash
    },
  }
  const find: Task = {
    topics: [topic],
    async step() {
      const faults: unknown[] = []
      await transactions.find(faults)
      throwFirst(faults)
    },
  }
  return [see, find]
}

// A late deposit is not urgent: its owner can also send it back himself.
const LOOK_MS = 5_000

/** Sends back what lies at the addresses of ops that are over. */
export function createRecoverWork(
  { pool, catalog, prices }: Parts,
  { chain, config }: ConnectedChain,
  { sender, view, budgets }: { sender: Sender; view: Pick<ViewOfChain, 'part'>; budgets: GasBudgets },
) {
  const { chainId } = config
  const tokens = catalog.chains.get(chainId)?.tokens ?? []
  const costs = createReturnCosts({
    origin: () => catalog.chains.get(chainId),
    priceOf: prices.priceOf,
    gasPrice: () => view.part('costs')?.value.gasPrice,
    budgets,
  })
  const addresses = tokens.map(({ address }) => address)
  let after: PastPlace | undefined
  const look = atMostEvery(LOOK_MS, async (lease: Lease, heads: Heads) => {
    const { ways } = chain
    if (!ways) return
    const deps = { pool, chainId, ways, sender, tokens: addresses, refreshPrices: prices.refresh, ...costs }
    const faults: unknown[] = []
    after = await recoverDeposits(deps, lease, heads, after, faults)
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
