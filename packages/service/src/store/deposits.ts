import type { Pool } from 'pg'
import { type DepositFacts, fromRecoveryId, type Returned, withReturned } from '../swap/deposit.ts'
import type { Swap } from '../swap/swap.ts'
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
import { HOUR } from './gas.ts'
import { isHeldSql } from './op-columns.ts'
import { toJson } from './sql.ts'
import { selectSwaps } from './swap-rows.ts'

/** Records what lies at the address of a swap that waits for its deposit, unless the swap has moved. */
export async function setDeposit(db: Db, { id, version }: Swap, deposit: DepositFacts): Promise<void> {
  await db.query(
    `update swaps set deposit = $3, updated_at = clock_timestamp() where id = $1 and version = $2
        and state = 'awaitingDeposit'`,
    [id, version, toJson(deposit)],
  )
}

/** Records who sent what a swap takes. */
export async function setDepositSenders(
  db: Db,
  { id }: Pick<Swap, 'id'>,
  senders: readonly string[],
): Promise<void> {
  await db.query('update swaps set deposit_senders = $2 where id = $1', [id, senders])
}

/** Whether a stored op has this address. Addresses of one op are equal on all EVM chains. */
export async function isDepositAddress(db: Db, address: string): Promise<boolean> {
  const { rowCount } = await db.query('select 1 from ops where deposit_address = $1 limit 1', [address])
  return rowCount === 1
}

type Paid = { id: string; received: string; txHash: string }

/** Adds the transaction of this amount, wherever the swap is now. */
export async function setDepositTx(db: Db, { id, received, txHash }: Paid): Promise<void> {
  await db.query(
    `update swaps set deposit = deposit || jsonb_build_object('txHash', $3::text), updated_at = clock_timestamp()
      where id = $1 and deposit ->> 'received' = $2`,
    [id, received, txHash],
  )
}

/** Notes the one try to send this token back from the address of an op. False if there was one before. */
export async function noteTry(db: Db, { id }: Pick<Swap, 'id'>, token: string): Promise<boolean> {
  const { rowCount } = await db.query(
    'insert into recover_tries (swap_id, token) values ($1, $2) on conflict do nothing',
    [id, token],
  )
  return rowCount === 1
}

/** The tokens that were tried, by swap. */
export async function findTried(db: Db, swaps: readonly Swap[]): Promise<Map<string, Set<string>>> {
  const { rows } = await db.query<{ id: string; tokens: string[] }>(
    `select swap_id as id, array_agg(token) as tokens from recover_tries where swap_id = any($1) group by 1`,
    [swaps.map(({ id }) => id)],
  )
  return new Map(rows.map(({ id, tokens }) => [id, new Set(tokens)]))
}

/** How often something was sent back for an account on a chain in this hour. */
export type Returns = { count: number }

/** By swap; those of one account share theirs. */
export async function findReturns(
  db: Db,
  chainId: number,
  swaps: readonly Swap[],
): Promise<Map<string, Returns>> {
  const { rows } = await db.query<{ ids: string[]; count: number }>(
    `select array_agg(s.id) as ids,
            (select count(*)::int from recover_tries t join swaps r on r.id = t.swap_id
              where t.tried_at >= ${HOUR} and r.account_id = s.account_id and r.origin_chain = $1) as count
       from swaps s where s.id = any($2) group by s.account_id`,
    [chainId, swaps.map(({ id }) => id)],
  )
  return new Map(
    rows.flatMap(({ ids, count }) => {
      const shared = { count }
      return ids.map((id) => [id, shared] as const)
    }),
  )
}

/** The swap with this deadline and id. */
export type PastPlace = { opDeadline: number; id: string }
type Past = { chainId: number; seconds: number; after: PastPlace; limit: number }

/**
 * The next swaps by deposit or payment whose deadline passed before this time of the chain, without those with a
 * transaction in flight which sends something back.
 */
export async function findPastDeposits(db: Db, { chainId, seconds, after, limit }: Past): Promise<Swap[]> {
  const inFlight = `select 1 from attempt_swaps l join tx_attempts a on a.id = l.attempt_id
                     where l.swap_id = s.id and l.role = 'recover' and a.final_at is null`
  return selectSwaps(
    db,
    `where ${isHeldSql('o')} and o.origin_chain = $1 and o.op_deadline < $2
       and (o.op_deadline, s.id) > ($3, $4)
       and s.state <> 'awaitingDeposit' and not exists (${inFlight})
     order by o.op_deadline, s.id limit $5`,
    [chainId, seconds, after.opDeadline, after.id, limit],
  )
}

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
      where exists (select 1 from ops o where o.hash = n.op and ${isHeldSql('o')})
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
      where o.hash = $1 and ${isHeldSql('o')} for update of s`,
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
