import type { Pool } from 'pg'
import { fromRecoveryId, type Returned, withReturned } from '../model/deposit.ts'
import {
  COLUMNS,
  closeEvents,
  type Final,
  type Row,
  type Scanned,
  type StoredEvent,
  toEvent,
} from './chain-events.ts'
import { type Db, inTransaction } from './db.ts'
import { toJson } from './json.ts'

/** Stores what went back from the addresses of ops by deposit. Anyone can make such events of ops of their own. */
export async function storeRecoveries(
  db: Db,
  { chainId, seconds, events }: Pick<Scanned, 'chainId' | 'seconds' | 'events'>,
): Promise<void> {
  if (events.length === 0) return
  await db.query(
    `insert into chain_events as e (chain_id, kind, id, block, block_hash, tx_hash, seen_at, amount)
     select distinct on (n.id) $1, 'recovered', n.id, n.block, n.block_hash, n.tx_hash, $2, n.amount
       from unnest($3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::numeric[])
         as n (op, id, block, block_hash, tx_hash, amount)
      where exists (select 1 from ops o where o.hash = n.op and o.method = 'deposit')
     on conflict (chain_id, kind, id) do update
        set block = excluded.block, block_hash = excluded.block_hash, seen_at = excluded.seen_at
      where not e.final and (e.block, e.block_hash) is distinct from (excluded.block, excluded.block_hash)`,
    [
      chainId,
      seconds,
      events.map(({ id }) => fromRecoveryId(id).op),
      events.map(({ id }) => id),
      events.map(({ block }) => block.toString()),
      events.map(({ blockHash }) => blockHash),
      events.map(({ txHash }) => txHash),
      events.map(({ amount = 0n }) => amount.toString()),
    ],
  )
}

/** Unprocessed recoveries in hard-final blocks, oldest first. */
export async function findFinalRecoveries(db: Db, { chainId, hard, limit }: Final): Promise<StoredEvent[]> {
  const { rows } = await db.query<Row>(
    `select ${COLUMNS} from chain_events e
      where e.chain_id = $1 and not e.final and e.block <= $2 and e.kind = 'recovered' order by e.block limit $3`,
    [chainId, hard.toString(), limit],
  )
  return rows.map(toEvent)
}

/** Tells the swap what went back to its wallet, if the op has one, and marks the event as processed. */
export async function noteRecovery(pool: Pool, chainId: number, event: StoredEvent): Promise<void> {
  const { op, token, txHash } = fromRecoveryId(event.id)
  const amount = (event.amount ?? 0n).toString()
  await inTransaction(pool, async (db) => {
    await addReturned(db, op, { token, amount, txHash })
    await closeEvents(db, chainId, [event])
  })
}

/** Adds what went back from the op's address to its wallet, once per transaction and token. */
async function addReturned(db: Db, opHash: string, returned: Returned): Promise<void> {
  const { rows } = await db.query<{ id: string; known: Returned[] }>(
    `select s.id, coalesce(s.deposit -> 'returned', '[]') as known from swaps s join ops o on o.id = s.op_id
      where o.hash = $1 and o.method = 'deposit' for update of s`,
    [opHash],
  )
  for (const { id, known } of rows) {
    const next = withReturned(known, returned)
    if (next === known) continue
    await db.query(
      `update swaps set updated_at = clock_timestamp(),
              deposit = coalesce(deposit, '{}') || jsonb_build_object('returned', $2::jsonb)
        where id = $1`,
      [id, toJson(next)],
    )
  }
}
