import type { Pool } from 'pg'
import type { ChainEvent, EventPage, Watched } from '../chains/chain.ts'
import { deliverableStates, owedStates, paidStates, refundDueStates } from '../swap/lifecycle.ts'
import type { Swap } from '../swap/swap.ts'
import { type Db, inTransaction } from './db.ts'
import { IS_OPEN, listOf } from './sql.ts'
import { selectSwaps } from './swap-rows.ts'

/** A stored event. `seenAt` is the chain's time when the event was first seen, at or after its block's time. */
export type StoredEvent = ChainEvent & { seenAt: number; isFinal: boolean }

export type Row = {
  kind: ChainEvent['kind']
  id: string
  block: string
  block_hash: string
  tx_hash: string
  seen_at: string
  amount: string | null
  credited_to: string[] | null
  final: boolean
}

export const COLUMNS =
  'e.kind, e.id, e.block, e.block_hash, e.tx_hash, e.seen_at, e.amount, e.credited_to, e.final'

/** The last scanned block; undefined if the chain was never scanned. */
export async function readCursor(db: Db, chainId: number): Promise<bigint | undefined> {
  const { rows } = await db.query<{ scanned_to: string }>(
    'select scanned_to from chain_cursors where chain_id = $1',
    [chainId],
  )
  const row = rows[0]
  return row && BigInt(row.scanned_to)
}

/** Rescans the chain from this block on, because its logs lacked an event that it must have. */
export async function rewindCursor(db: Db, { chainId, to }: { chainId: number; to: bigint }): Promise<void> {
  await db.query('update chain_cursors set scanned_to = least(scanned_to, $2::bigint) where chain_id = $1', [
    chainId,
    to.toString(),
  ])
}

/** A page of a chain's events, and earlier events that a reorg removed. Without `to`, the cursor stays. */
export type Scanned = Pick<EventPage, 'events'> & {
  chainId: number
  seconds: number
  gone: readonly ChainEvent[]
  to?: bigint
}

/**
 * Stores a page and its cursor, and removes events that a reorg undid; `undo` moves the affected swaps back. Swaps
 * follow an event that moved to another block.
 */
export async function storePage(pool: Pool, page: Scanned, undo: Undo): Promise<void> {
  // Most heads have no events. A statement alone is a transaction, and spares two calls.
  // Without a cursor it only asks whether the database answers.
  if (page.events.length + page.gone.length === 0 && page.to !== undefined) return moveCursor(pool, page)
  await inTransaction(pool, async (db) => {
    if (page.gone.length > 0) await removeEvents(db, page.chainId, page.gone)
    if (page.gone.length > 0) await undo(db, page.gone)
    await upsertEvents(db, page)
    await moveCursor(db, page)
  })
}

async function moveCursor(db: Db, { chainId, to }: Pick<Scanned, 'chainId' | 'to'>): Promise<void> {
  if (to === undefined) return
  await db.query(
    `insert into chain_cursors as c (chain_id, scanned_to) values ($1, $2)
     on conflict (chain_id) do update set scanned_to = excluded.scanned_to`,
    [chainId, to.toString()],
  )
}

export type Undo = (db: Db, gone: readonly ChainEvent[]) => Promise<void>

/** Locks the swaps first, so that none is delivered between the removal of its lock and the undo. */
async function removeEvents(db: Db, chainId: number, gone: readonly ChainEvent[]): Promise<void> {
  const swaps = 'select 1 from swaps s join ops o on o.id = s.op_id where o.hash = any($1) for update of s'
  await db.query(swaps, [gone.map(({ id }) => id)])
  await db.query(
    `with gone as (
       delete from chain_events e using unnest($2::text[], $3::text[]) as g (kind, id)
        where e.chain_id = $1 and e.kind = g.kind and e.id = g.id and not e.final
    returning e.kind, e.id
     ), unlocked as (
       update swaps s set locked_block = null, origin_safe = false from gone g join ops o on o.hash = g.id
        where g.kind = 'locked' and s.op_id = o.id and not s.origin_final and s.state <> 'locked'
     )
     update swaps s set delivered_block = null from gone g join ops o on o.delivery_hash = g.id
      where g.kind = 'delivered' and s.op_id = o.id and not s.delivery_final`,
    [chainId, gone.map(({ kind }) => kind), gone.map(({ id }) => id)],
  )
}

type Stored = Pick<Scanned, 'chainId' | 'seconds' | 'events'>

async function upsertEvents(db: Db, { chainId, seconds, events: found }: Stored): Promise<void> {
  // One statement cannot store an event twice.
  const events = [...new Map(found.map((event) => [`${event.kind}:${event.id}`, event])).values()]
  if (events.length === 0) return
  await db.query(
    `with stored as (
       insert into chain_events as e (chain_id, kind, id, block, block_hash, tx_hash, seen_at, amount, credited_to)
       select $1, n.kind, n.id, n.block, n.block_hash, n.tx_hash, $2, n.amount,
              case when n.credited_to is null then null else string_to_array(n.credited_to, ',') end
         from unnest($3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::numeric[], $9::text[])
           as n (kind, id, block, block_hash, tx_hash, amount, credited_to)
       on conflict (chain_id, kind, id) do update
          set block = excluded.block, block_hash = excluded.block_hash, tx_hash = excluded.tx_hash,
              seen_at = excluded.seen_at, amount = excluded.amount, credited_to = excluded.credited_to
        where not e.final and (e.block, e.block_hash, e.tx_hash)
              is distinct from (excluded.block, excluded.block_hash, excluded.tx_hash)
    returning kind, id, block, tx_hash
     ), locked as (
       update swaps s set locked_block = e.block from stored e join ops o on o.hash = e.id
        where e.kind = 'locked' and s.op_id = o.id and s.locked_block is not null and not s.origin_final
     )
     update swaps s
        set delivered_block = e.block, delivery_tx_hash = e.tx_hash,
            updated_at = case when s.delivery_tx_hash = e.tx_hash then s.updated_at else clock_timestamp() end
       from stored e join ops o on o.delivery_hash = e.id
      where e.kind = 'delivered' and s.op_id = o.id and s.delivered_block is not null and not s.delivery_final`,
    [
      chainId,
      seconds,
      events.map(({ kind }) => kind),
      events.map(({ id }) => id),
      events.map(({ block }) => block.toString()),
      events.map(({ blockHash }) => blockHash),
      events.map(({ txHash }) => txHash),
      events.map(({ amount }) => amount?.toString() ?? null),
      events.map(({ creditedTo }) => creditedTo?.join(',') ?? null),
    ],
  )
}

/** Removes events that the chain's final state contradicts, and rescans their blocks. */
export async function discardEvents(
  pool: Pool,
  chainId: number,
  events: readonly ChainEvent[],
  undo: Undo,
): Promise<void> {
  const [first] = events.map(({ block }) => block).sort((a, b) => (a < b ? -1 : 1))
  if (first === undefined) return
  await inTransaction(pool, async (db) => {
    await removeEvents(db, chainId, events)
    await undo(db, events)
    await rewindCursor(db, { chainId, to: first - 1n })
  })
}

type Between = { chainId: number; from: bigint; to: bigint }

/** Events of these blocks that a reorg may still undo. */
export async function findOpenEvents(db: Db, { chainId, from, to }: Between): Promise<StoredEvent[]> {
  const { rows } = await db.query<Row>(
    `select ${COLUMNS} from chain_events e
      where e.chain_id = $1 and not e.final and e.block between $2 and $3 order by e.block`,
    [chainId, from.toString(), to.toString()],
  )
  return rows.map(toEvent)
}

export type Final = { chainId: number; hard: bigint; limit: number }

/** Unprocessed events of inputs and outputs in hard-final blocks, oldest first. */
export async function findFinalEvents(db: Db, { chainId, hard, limit }: Final): Promise<StoredEvent[]> {
  const { rows } = await db.query<Row>(
    `select ${COLUMNS} from chain_events e
      where e.chain_id = $1 and not e.final and e.block <= $2 and e.kind <> 'recovered' order by e.block limit $3`,
    [chainId, hard.toString(), limit],
  )
  return rows.map(toEvent)
}

/** Marks events as processed. */
export async function closeEvents(db: Db, chainId: number, events: readonly ChainEvent[]): Promise<void> {
  if (events.length === 0) return
  await db.query(
    `update chain_events e set final = true from unnest($2::text[], $3::text[]) as g (kind, id)
      where e.chain_id = $1 and e.kind = g.kind and e.id = g.id`,
    [chainId, events.map(({ kind }) => kind), events.map(({ id }) => id)],
  )
}

type Named = { chainId: number; kind: ChainEvent['kind']; ids: readonly string[] }

/** Events of one kind, by op hash or delivery hash. */
export async function findEvents(db: Db, { chainId, kind, ids }: Named): Promise<Map<string, StoredEvent>> {
  if (ids.length === 0) return new Map()
  const { rows } = await db.query<Row>(
    `select ${COLUMNS} from chain_events e where e.chain_id = $1 and e.kind = $2 and e.id = any($3)`,
    [chainId, kind, ids],
  )
  return new Map(rows.map((row) => [row.id, toEvent(row)]))
}

export function toEvent(row: Row): StoredEvent {
  return {
    kind: row.kind,
    id: row.id,
    block: BigInt(row.block),
    blockHash: row.block_hash,
    txHash: row.tx_hash,
    seenAt: Number(row.seen_at),
    isFinal: row.final,
    ...(row.amount !== null && { amount: BigInt(row.amount) }),
    ...(row.credited_to && { creditedTo: row.credited_to }),
  }
}

/** A refused refund may stay forever, and a delivered swap with a final lock only waits for its claim. */
const AWAITS_ORIGIN = `s.state <> 'refundBlocked' and not (s.state in ${listOf(paidStates)} and s.origin_final)`
const AWAITS_DELIVERY = `s.state not in ${listOf(refundDueStates)} and not s.delivery_final`

/** The first block whose events matter: the build block of the oldest swap that waits for an event of this chain. */
export async function oldestOpenBlock(db: Db, chainId: number): Promise<bigint | undefined> {
  const { rows } = await db.query<{ block: string | null }>(
    `select least(
       (select min(o.origin_block) from swaps s join ops o on o.id = s.op_id
         where s.${IS_OPEN} and s.origin_chain = $1 and ${AWAITS_ORIGIN}),
       (select min(o.destination_block) from swaps s join ops o on o.id = s.op_id
         where s.${IS_OPEN} and s.destination_chain = $1 and ${AWAITS_DELIVERY})) as block`,
    [chainId],
  )
  const block = rows[0]?.block
  return block ? BigInt(block) : undefined
}

/** Swaps that a chain without event logs has to be asked about, because a transaction of theirs is in flight. */
export async function findWatched(db: Db, chainId: number): Promise<Watched> {
  const find = (condition: string) => selectSwaps(db, `where ${condition}`, [chainId])
  const unclaimed = listOf(['locking', ...deliverableStates, 'settled'])
  const [locks, exits, deliveries] = await Promise.all([
    find(`s.origin_chain = $1 and not s.origin_final and s.state in ${unclaimed}`),
    find(`s.origin_chain = $1 and s.state in ${listOf(['claiming', ...refundDueStates])}`),
    find(`s.destination_chain = $1 and not s.delivery_final and s.state in ${listOf(owedStates)}`),
  ])
  return { locks: locks.map(opOf), exits: exits.map(opOf), deliveries: deliveries.map(opOf) }
}

const opOf = ({ op }: Swap) => op
