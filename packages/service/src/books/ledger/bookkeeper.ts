import type { Pool, PoolClient } from 'pg'
import type { Block } from '../../chains/chain.ts'
import type { Custody, CustodyChain } from '../../chains/custody.ts'
import { inTransaction } from '../../store/db.ts'
import {
  advanceLedger,
  insertMovements,
  type LedgerCursor,
  openLedger,
  readLedgerBalances,
  readLedgerStart,
} from '../../store/ledger.ts'
import { endDriftStops, raiseStop } from '../../store/stops.ts'
import { findOpenAfter } from '../../store/swaps.ts'
import type { Op } from '../../swap/swap.ts'
import {
  compareBalances,
  createMemory,
  type Drift,
  describeDrift,
  type Expected,
  findDoubts,
  findLasting,
  LESS_HELD,
  type Memory,
  toMovement,
} from './compare.ts'
import { type Explained, explainNew, movementsOf, suspicionOf } from './explain.ts'

// Far above what any caps allow at once.
const MOST_OPEN = 100_000

export type Stopped = Drift & { asset?: string; stopId: string }

type BookkeeperDeps = {
  pool: Pool
  chain: CustodyChain
  /** The asset of a token; undefined if the token is not served. */
  assetOf(token: string): string | undefined
  /** Called once per raised stop. */
  onDrift(stopped: Stopped): void
  /** Called for each stop that ended because the missing amount is back. */
  onMended(stopId: string): void
}

/**
 * Books the movements of a chain up to a hard-final block, and compares its balances with the books and the swaps. A
 * surplus is booked as received; a shortfall is booked as unexplained and stops quotes.
 * See docs/decisions.md#books-that-balance.
 */
export function createBookkeeper(deps: BookkeeperDeps) {
  const { pool, chain } = deps
  let memory = createMemory()

  /** One reading. Reads the expectations of the swaps before choosing the block, so that the block includes them. */
  return async function book(hardOf: () => Block | undefined): Promise<void> {
    const { cursor, senders, ...expected } = await readLedgerStart(pool, chain.chainId)
    const hard = hardOf()
    if (!hard) return
    if (!cursor) return open(deps, hard)
    if (hard.number <= cursor.block) return
    const custody = await chain.readCustody(cursor.block, hard, senders, () => inputsOf(deps))
    if (custody.block <= cursor.block) return
    const booked = await advance(deps, memory, { cursor, custody, expected })
    if (!booked) return
    memory = booked.memory
    for (const stopped of booked.stops) deps.onDrift(stopped)
    for (const stopId of booked.lifted) deps.onMended(stopId)
  }
}

async function inputsOf({ pool, chain }: BookkeeperDeps): Promise<Op[]> {
  const open = await findOpenAfter(pool, { chainId: chain.chainId, after: '', limit: MOST_OPEN })
  return open.map(({ op }) => op)
}

async function open(deps: BookkeeperDeps, hard: Block): Promise<void> {
  const { pool, chain } = deps
  const { block, balances = [] } = await chain.readCustody(undefined, hard, [], () => inputsOf(deps))
  const opening = balances
    .map((held, part) => toMovement('opening', { part, block }, held, held.amount))
    .filter(({ amount }) => amount > 0n)
  await inTransaction(pool, async (db) => {
    const isMine = await openLedger(db, { chainId: chain.chainId, block })
    if (isMine) await insertMovements(db, chain.chainId, opening)
  })
}

type Reading = { cursor: LedgerCursor; custody: Custody; expected: Expected }

/** Undefined, without a change, if another process booked in the meantime. */
async function advance(deps: BookkeeperDeps, memory: Memory, { cursor, custody, expected }: Reading) {
  const { chainId } = deps.chain
  // Events before the opening are part of the opening balances.
  const events = custody.events.filter(({ block }) => block > cursor.openedBlock)
  const explained = await explainNew(deps, events)
  const suspicious = explained.flatMap((each) => driftOf(each, cursor) ?? [])
  return inTransaction(deps.pool, async (db) => {
    // First, so that the loser of a race has written nothing.
    if (!(await advanceLedger(db, { chainId, from: cursor.block, to: custody.block }))) return undefined
    await insertMovements(db, chainId, explained.flatMap(movementsOf))
    if (!custody.balances) return { memory, stops: await raiseAll(deps, db, suspicious), lifted: [] }
    const counted = await compareBalances(db, memory, { chainId, ...custody, balances: custody.balances })
    const doubts = await findDoubts(db, custody.balances, expected)
    const doubted = findLasting(memory, doubts)
    const stops = await raiseAll(deps, db, [...suspicious, ...counted.drifts, ...doubted.drifts])
    const doubtful = new Set(doubts.map(({ token }) => token))
    const lifted = await endMendedStops(
      deps,
      db,
      counted.mended.filter((token) => !doubtful.has(token)),
    )
    return { memory: { differences: counted.differences, doubts: doubted.counts }, stops, lifted }
  })
}

function driftOf(explained: Explained, cursor: LedgerCursor): Drift | undefined {
  const why = suspicionOf(explained)
  const [movement] = movementsOf(explained)
  const { txHash, block } = explained.event
  // A repeated read without a booking: it was reported the first time.
  if (!why || (!movement && block <= cursor.block)) return undefined
  return { why, txHash, token: movement?.token, amount: movement?.amount }
}

/** Ends the stops of assets that have no shortfall any more. */
async function endMendedStops(
  deps: BookkeeperDeps,
  db: PoolClient,
  tokens: readonly string[],
): Promise<string[]> {
  if (tokens.length === 0) return []
  const { chainId } = deps.chain
  const balances = await readLedgerBalances(db, chainId)
  const missing = balances.filter(({ account, amount }) => account === 'unexplained' && amount > 0n)
  const lacking = new Set(missing.map(({ token }) => deps.assetOf(token)))
  const assets = new Set(tokens.map((token) => deps.assetOf(token)).filter((asset) => !lacking.has(asset)))
  const lifted: string[] = []
  for (const asset of assets) {
    if (asset !== undefined) lifted.push(...(await endDriftStops(db, { chainId, asset, note: LESS_HELD })))
  }
  return lifted
}

async function raiseAll(deps: BookkeeperDeps, db: PoolClient, drifts: readonly Drift[]): Promise<Stopped[]> {
  const { chainId } = deps.chain
  const stops: Stopped[] = []
  for (const drift of drifts) {
    const asset = drift.token === undefined ? undefined : deps.assetOf(drift.token)
    const scope = { kind: 'part', chainId, asset } as const
    const note = describeDrift(drift)
    const { id, isNew } = await raiseStop(db, { why: 'drift', scope, note, by: 'reconciliation' })
    if (isNew) stops.push({ ...drift, asset, stopId: id })
  }
  return stops
}
