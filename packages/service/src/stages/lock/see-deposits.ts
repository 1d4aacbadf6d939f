import type { Pool } from 'pg'
import type { Block, Heads, OriginChain, OriginWays } from '../../chains/chain.ts'
import type { Moves } from '../../engine/advance.ts'
import type { Task } from '../../engine/lane.ts'
import type { HeadFollower } from '../../engine/views.ts'
import { isolate } from '../../isolate.ts'
import type { Screening } from '../../screen/denials.ts'
import { setDeposit, setDepositSenders, setDepositTx } from '../../store/deposits.ts'
import { reserveInventory, spendOnArrival } from '../../store/submissions.ts'
import { findAwaiting } from '../../store/swaps.ts'
import type { Topic } from '../../store/wakes.ts'
import type { DepositFacts } from '../../swap/deposit.ts'
import { collectError, groupBy, setNewest, throwFirst } from '../../swap/group.ts'
import type { Swap } from '../../swap/swap.ts'
import { isExpired } from './readiness.ts'
import {
  createDepositScreening,
  type Deposited,
  type DepositScreening,
  type DepositVerdict,
} from './screen-deposits.ts'

type Deps = {
  pool: Pool
  chainId: number
  ways: Pick<OriginWays, 'readDeposits'>
  moves: Pick<Moves, 'advance'>
  /** Absent if everybody is served. */
  screening?: Pick<DepositScreening, 'verdictOf' | 'forget'> | undefined
  /** Called for an amount that is new: its transaction can be looked for. */
  onReceived(received: Received): void
}

// Sixty balances are one call to a node. A key may build thousands of deposits that it never makes.
const SEEN_AT_ONCE = 300

/** `since`: the block at which the same swaps were last looked at, if known. */
type Page = { after?: string | undefined; since?: bigint | undefined }

/**
 * Looks at the addresses that wait for a deposit, after the given swap. Reads balances and no logs: the native coin
 * writes none, and several senders may have paid. Returns the swap after which to go on; undefined at the end of the
 * list. A swap that fails delays no other.
 */
export async function seeDeposits(
  deps: Deps,
  heads: Heads,
  { after, since }: Page,
  faults: unknown[],
): Promise<string | undefined> {
  const swaps = await findAwaiting(deps.pool, { chainId: deps.chainId, after, limit: SEEN_AT_ONCE })
  for (const [token, waiting] of groupBy(swaps, ({ op }) => op.inputToken)) {
    await collectError(faults, async () => {
      const ops = waiting.map(({ op }) => op)
      const held = await deps.ways.readDeposits(ops, [token], heads.head)
      for (const swap of waiting) {
        const told = held.get(swap.op.hash)
        if (!told) continue
        const received = told[0]?.amount ?? 0n
        const subject = { step: 'see deposit', id: swap.id }
        await isolate(faults, subject, () => seeDeposit(deps, { heads, since }, swap, received))
      }
    })
  }
  return swaps.length < SEEN_AT_ONCE ? undefined : swaps.at(-1)?.id
}

type Look = { heads: Heads; since: bigint | undefined }

async function seeDeposit(deps: Deps, { heads, since }: Look, swap: Swap, received: bigint): Promise<void> {
  const { op } = swap
  const isOver = isExpired(op, heads)
  // After the deadline anyone can send it back: a lower balance says nothing about what came.
  if (isOver && received < BigInt(swap.deposit?.received ?? 0)) return
  const deposit = factsOf(swap, received)
  const isNew = deposit.received !== swap.deposit?.received
  const isWhole = received >= op.inputAmount && !isOver
  const verdict = isWhole ? verdictOf(deps, { swap, received, since, at: heads.head }) : undefined
  if (!isWhole) deps.screening?.forget(swap.id)
  if (verdict?.kind === 'deny') return decline(deps, heads, swap)
  // The output is reserved only now, so that nobody holds back liquidity without paying.
  const isAccepted =
    verdict?.kind === 'allow' && (await accept(deps, swap, isNew ? deposit : undefined, verdict.senders))
  if (isNew && !isAccepted) await setDeposit(deps.pool, swap, deposit)
  if (isNew && received > 0n) deps.onReceived({ swap, received: `${received}`, since, at: heads.head })
}

/** A new amount drops the known transaction: that of the new one is looked for later, and no swap waits for it. */
function factsOf({ deposit }: Swap, amount: bigint): DepositFacts {
  const received = amount.toString()
  if (deposit?.received === received) return deposit
  if (amount === 0n && !deposit) return {}
  const { txHash: _, ...known } = deposit ?? {}
  return { ...known, received }
}

/**
 * False while the vault, or the daily limit of the key, has too little left: the deposit waits, and goes back to the
 * wallet after the deadline.
 */
async function accept(
  { moves }: Deps,
  swap: Swap,
  deposit: DepositFacts | undefined,
  senders: readonly string[],
): Promise<boolean> {
  const change = { swap, event: 'depositSeen', deposit } as const
  const moved = await moves.advance(change, {
    async require(db) {
      if (!(await spendOnArrival(db, swap.id))) return false
      if ((await reserveInventory(db, swap.op.id)) === undefined) return false
      if (senders.length > 0) await setDepositSenders(db, swap, senders)
      return true
    },
  })
  return moved !== undefined
}

function verdictOf({ screening }: Deps, deposited: Deposited): DepositVerdict {
  return screening?.verdictOf(deposited) ?? { kind: 'allow', senders: [] }
}

/** Nothing was signed, and nothing will be: the deposit goes back after the deadline, like any that is not locked. */
async function decline({ moves, chainId }: Deps, heads: Heads, swap: Swap): Promise<void> {
  const proof = { kind: 'neverSigned', chainId, block: heads.head } as const
  await moves.advance({ swap, event: 'declined', failureCode: 'ADDRESS_BLOCKED', proof })
}

/** An amount at the address of a swap. `since`: the block at which the address was last looked at, if known. */
export type Received = { swap: Swap; received: string; since: bigint | undefined; at: Block }

type DepositTxDeps = { pool: Pool; ways: Pick<OriginWays, 'findDepositTx'> }

const MAX_WAITING = 1_000
const FOUND_AT_ONCE = 20
const MAX_TRIES = 3

/** Finds the transactions of deposits, for their statuses alone: no swap waits for them. */
export function createDepositTransactions({ pool, ways }: DepositTxDeps) {
  const waiting = new Map<string, Received & { tries: number }>()

  function add(received: Received): void {
    setNewest(waiting, received.swap.id, { ...received, tries: 0 }, MAX_WAITING)
  }

  async function find(faults: unknown[]): Promise<void> {
    for (const each of [...waiting.values()].slice(0, FOUND_AT_ONCE)) {
      const { swap, received, since, at } = each
      const isDone = await isolate(faults, { step: 'deposit transaction', id: swap.id }, async () => {
        const txHash = await ways.findDepositTx(swap.op, { since, at })
        if (txHash) await setDepositTx(pool, { id: swap.id, received, txHash })
        return true
      })
      each.tries += 1
      const isNewest = waiting.get(swap.id) === each
      if (isNewest && (isDone || each.tries >= MAX_TRIES)) waiting.delete(swap.id)
    }
  }

  return { add, find }
}

type TaskDeps = {
  pool: Pool
  chain: Pick<OriginChain, 'chainId' | 'ways'>
  follower: Pick<HeadFollower, 'current'>
  moves: Pick<Moves, 'advance'>
  screening?: Pick<Screening, 'ofSwap' | 'isStrict'> | undefined
}

/** Looks for deposits at each new head of a chain, and apart from that for their transactions and their senders. */
export function createDepositTasks({ pool, chain, follower, moves, ...others }: TaskDeps): Task[] {
  const { ways, chainId } = chain
  if (!ways) return []
  const transactions = createDepositTransactions({ pool, ways })
  const topic: Topic = `deposits:${chainId}`
  const screened: Topic = `screening:${chainId}`
  let done: string | undefined
  let after: string | undefined
  // The blocks at which the last whole pass began, and this one.
  let since: bigint | undefined
  let begun: bigint | undefined
  let wakeUp: (topic: Topic) => void = () => {}
  let decisions = 0
  const screening =
    others.screening &&
    createDepositScreening({
      ways,
      screening: others.screening,
      onWaiting: () => wakeUp(screened),
      // The same head is looked at again.
      onDecided() {
        decisions += 1
        done = undefined
        wakeUp(`head:${chainId}`)
      },
    })
  const see: Task = {
    topics: [`head:${chainId}`],
    async step(_lease, wake) {
      const heads = follower.current()
      wakeUp = wake
      if (!heads || heads.head.hash === done) return
      const onReceived = (received: Received) => {
        transactions.add(received)
        wake(topic)
      }
      const deps = { pool, chainId, ways, moves, onReceived, screening }
      begun ??= heads.head.number
      const before = decisions
      const faults: unknown[] = []
      after = await seeDeposits(deps, heads, { after, since }, faults)
      if (after === undefined) [since, begun] = [begun, undefined]
      throwFirst(faults)
      if (decisions === before) done = heads.head.hash
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
  const screen: Task = {
    topics: [screened],
    async step() {
      const faults: unknown[] = []
      await screening?.decide(faults)
      throwFirst(faults)
    },
  }
  return screening ? [see, find, screen] : [see, find]
}
