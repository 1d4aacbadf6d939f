import type { PoolClient } from 'pg'
import type { Bench } from './network.ts'
import { HASH, NOWHERE, PENDING, timeline } from './stored-swaps.ts'

const AT_ONCE = 50_000

/**
 * Stores years of swaps: one of a thousand belongs to the caller, the rest to another account. Their events,
 * list entries and transactions are stored as triggers and workers would store them. Returns the size of the
 * database.
 */
export async function growDatabase(
  { pool, world }: Bench,
  { ended, open }: { ended: number; open: number },
): Promise<string> {
  const db = await pool.connect()
  try {
    const owner = await ownerOf(db, world.local.apiKey)
    await db.query("insert into accounts (id, name) values ('acc_grown', 'grown')")
    // Triggers would do the same, one row at a time.
    await db.query("set session_replication_role = 'replica'")
    for (let first = 0; first < ended; first += AT_ONCE) {
      await grow(db, { state: 'closed', first, count: Math.min(AT_ONCE, ended - first), owner })
    }
    await grow(db, { state: 'delivering', first: ended, count: open, owner })
    await db.query("set session_replication_role = 'origin'")
    // Grown data has been vacuumed and flushed long ago; without this, both would happen during the
    // measurement.
    await db.query('vacuum (analyze)')
    await db.query('checkpoint')
    return await sizeOf(db)
  } finally {
    db.release()
  }
}

async function ownerOf(db: PoolClient, apiKey: string): Promise<string> {
  const { rows } = await db.query<{ account_id: string }>('select account_id from api_keys where id = $1', [
    apiKey.split('_')[2],
  ])
  return rows[0]?.account_id ?? ''
}

async function sizeOf(db: PoolClient): Promise<string> {
  const { rows } = await db.query<{ bytes: string }>(
    'select pg_size_pretty(pg_database_size(current_database())) as bytes',
  )
  return rows[0]?.bytes ?? ''
}

type Growth = { state: 'closed' | 'delivering'; first: number; count: number; owner: string }

async function grow(db: PoolClient, growth: Growth): Promise<void> {
  for (const statement of statementsFor(growth)) await db.query(statement)
}

/** All values are constants of this file: nothing has to be escaped. */
function statementsFor({ state, first, count, owner }: Growth): string[] {
  const stages = state === 'closed' ? [...PENDING, 'delivered'] : PENDING
  const numbered = `generate_series(${first}, ${first + count - 1}) as i`
  const op = `('00000000-0000-4000-8000-' || lpad(to_hex(i), 12, '0'))`
  const swap = `'swp_grown' || lpad(to_hex(i), 24, '0')`
  const account = `case when i % 1000 = 0 then '${owner}' else 'acc_grown' end`
  const wallet = `'wallet' || i % 5000`
  const at = `now() - make_interval(secs => 40000000 - i * 30.0)`
  const route = `${NOWHERE}, ${NOWHERE}, ${wallet}, 'none', 10000000`
  return [
    `insert into ops (id, quote_id, account_id, hash, delivery_hash, terms, origin_chain, destination_chain, wallet,
                      input_token, input_amount, output_token, quoted_output, min_output, swappable, price_floor,
                      recipient, locker, position, round, op_deadline, fill_deadline, refund_deadline,
                      wallet_balance, wallet_block, value_cents, origin_block, destination_block, venue, pay_token,
                      pay_amount, expires_at)
     select ${op}::uuid, ${op}, ${account}, ${op}, ${op}, '{}', ${route}, 'none', 3990000000000000,
            3980000000000000, 1, 1, 'nobody', 'nobody', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 'inventory', 'none',
            3990000000000000, ${at} from ${numbered}`,
    `insert into swaps (id, op_id, quote_id, account_id, state, origin_chain, destination_chain, wallet, input_token,
                        input_amount, locker, signature, origin_tx_hash, delivery_tx_hash, timeline, seq, created_at,
                        updated_at)
     select ${swap}, ${op}::uuid, ${op}, ${account}, '${state}', ${route}, 'nobody', '0x', '${HASH}', '${HASH}',
            '${timeline(stages)}', ${stages.length}, ${at}, ${at} from ${numbered}`,
    `insert into swap_events (swap_id, seq, position, at, state, credited, stages, updated_at)
     select ${swap}, stage, nextval('swap_event_positions'), ${at},
            case when stage = ${stages.length} then '${state}' else 'locked' end, false, stage, ${at}
       from ${numbered}, generate_series(1, ${stages.length}) as stage`,
    `insert into account_swaps (account_id, created_at, swap_id, wallet, status)
     select ${account}, ${at}, ${swap}, ${wallet}, swap_status('${state}') from ${numbered}`,
    // A lock and a delivery for each, both final.
    `insert into tx_attempts (chain_id, sender, nonce, role, tx_hash, raw, effect_hash, request, final_at, final_block)
     select ${NOWHERE}, role, i, role, role || i, '0x', 'none', '{}', now(), 0
       from ${numbered}, (values ('lock'), ('deliver')) as roles (role)`,
    `insert into attempt_swaps (attempt_id, swap_id, role)
     select a.id, 'swp_grown' || lpad(to_hex(a.nonce::int), 24, '0'), a.role from tx_attempts a
      where a.chain_id = ${NOWHERE} and a.nonce between ${first} and ${first + count - 1}`,
  ]
}
