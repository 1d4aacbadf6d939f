import { randomBytes, randomUUID } from 'node:crypto'
import type { PoolClient } from 'pg'
import { now } from './clock.ts'
import type { Bench } from './network.ts'

// Swaps that exist only in the database, on chains that no worker serves: only a section itself changes them.
// A status read cannot distinguish them from real ones.
export const NOWHERE = 999_999

const AT = '2026-01-01T00:00:00.000Z'
export const HASH = `0x${'ab'.repeat(32)}`
export const PENDING = ['accepted', 'locking', 'locked', 'delivering']
export const timeline = (stages: readonly string[]) =>
  JSON.stringify(stages.map((stage) => ({ stage, at: AT, chainId: NOWHERE, txHash: HASH })))

/** Stores this many swaps in delivery for the account of a key; returns their ids. */
export async function storePending({ pool }: Bench, apiKey: string, count: number): Promise<string[]> {
  const keyId = apiKey.split('_')[2]
  const account = await pool.query<{ account_id: string }>('select account_id from api_keys where id = $1', [
    keyId,
  ])
  const ops = Array.from({ length: count }, () => randomUUID())
  const swaps = ops.map(() => `swp_${randomBytes(16).toString('hex')}`)
  const values = [ops, account.rows[0]?.account_id, NOWHERE]
  await pool.query(INSERT_OPS, values)
  await pool.query(INSERT_SWAPS, [ops, swaps, HASH, timeline(PENDING)])
  return swaps
}

/** Settles them all in one transaction; returns the time of the commit request. */
export async function settleTogether({ pool }: Bench, swapIds: readonly string[]): Promise<number> {
  const db = await pool.connect()
  try {
    return await settleIn(db, swapIds)
  } finally {
    db.release()
  }
}

async function settleIn(db: PoolClient, swapIds: readonly string[]): Promise<number> {
  await db.query('begin')
  await db.query(
    `update swaps set state = 'settled', version = version + 1, delivered = 1, timeline = $2,
                      updated_at = clock_timestamp() where id = any($1)`,
    [swapIds, timeline([...PENDING, 'delivered'])],
  )
  const at = now()
  await db.query('commit')
  return at
}

const INSERT_OPS = `
  insert into ops (id, quote_id, account_id, hash, delivery_hash, terms, origin_chain, destination_chain, wallet,
                   input_token, input_amount, output_token, quoted_output, min_output, swappable, price_floor,
                   recipient, locker, position, round, op_deadline, fill_deadline, refund_deadline, wallet_balance,
                   wallet_block, value_cents, origin_block, destination_block, venue, pay_token, pay_amount,
                   expires_at)
  select id::uuid, id, $2, id, id, '{}', $3::bigint, $3::bigint, 'nobody', 'none', 10000000, 'none', 3990000000000000,
         3980000000000000, 1, 1, 'nobody', 'nobody', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
         'inventory', 'none', 3990000000000000, now()
    from unnest($1::text[]) as id`

const INSERT_SWAPS = `
  insert into swaps (id, op_id, quote_id, account_id, state, origin_chain, destination_chain, wallet, input_token,
                     input_amount, locker, signature, origin_tx_hash, delivery_tx_hash, timeline)
  select swap_id, o.id, o.quote_id, o.account_id, 'delivering', o.origin_chain, o.destination_chain, o.wallet,
         o.input_token, o.input_amount, o.locker, '0x', $3, $3, $4
    from unnest($1::uuid[], $2::text[]) as k (op_id, swap_id) join ops o on o.id = k.op_id`
