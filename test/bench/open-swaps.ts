import { Pool, type PoolClient } from 'pg'
import type { Address } from 'viem'
import type { Shaped } from './shaped.ts'

type Sent = { chainId: string; sender: Address; nonce: string }

/**
 * Stores this many copies of a swap that is settled and not final, with its events and transactions, as if its keys had
 * sent them all: the chains count their nonces.
 */
export async function copyOpenSwap(shaped: Shaped, swapId: string, count: number): Promise<void> {
  const pool = new Pool({ connectionString: shaped.network.databaseUrl, max: 1 })
  const db = await pool.connect()
  try {
    const { rows: sent } = await db.query<Sent>(
      `select a.chain_id as "chainId", a.sender, k.next_nonce as nonce
         from attempt_swaps l
         join tx_attempts a on a.id = l.attempt_id
         join sender_keys k on k.chain_id = a.chain_id and k.address = a.sender
        where l.swap_id = $1 and l.role in ('lock', 'deliver')`,
      [swapId],
    )
    for (const each of sent) await raiseNonce(shaped, each, count)
    // Triggers would write what is written here, a row at a time.
    await db.query("begin; set local session_replication_role = 'replica'")
    await copyRows(db, swapId, count)
    await db.query('commit')
    await db.query('vacuum (analyze)')
  } finally {
    db.release()
    await pool.end()
  }
}

async function raiseNonce({ world }: Shaped, { chainId, sender, nonce }: Sent, count: number): Promise<void> {
  const chain = world.chains.find((each) => each.chainId === Number(chainId))
  if (!chain) throw new Error(`The network has no chain ${chainId}`)
  await chain.client.setNonce({ address: sender, nonce: Number(nonce) + count })
}

async function copyRows(db: PoolClient, swapId: string, count: number): Promise<void> {
  const copies = `(select i, lpad(to_hex(i), 12, '0') as name from generate_series(1, ${count}) as i) as copy`
  const copied = (table: string, fields: string) =>
    `select (jsonb_populate_record(${table}, jsonb_build_object(${fields}))).*`
  const op = (original: string) => `md5(${original}::text || copy.name)::uuid`
  const original = 'select op_id from swaps where id = $1'
  const attempts = `select attempt_id from attempt_swaps where swap_id = $1 and role in ('lock', 'deliver')`
  const newId = `e.id + copy.i * (select max(id) from tx_attempts)`
  const swapFields = `'id', e.id || copy.name, 'op_id', ${op('e.op_id')}, 'quote_id', ${op('e.op_id')}`
  await db.query(
    `insert into ops ${copied(
      'e',
      `'id', ${op('e.id')}, 'quote_id', ${op('e.id')}, 'hash', e.hash || copy.name,
       'delivery_hash', e.delivery_hash || copy.name`,
    )} from ops e, ${copies} where e.id = (${original})`,
    [swapId],
  )
  await db.query(
    `insert into swaps ${copied('e', swapFields)}
       from swaps e, ${copies} where e.id = $1`,
    [swapId],
  )
  await db.query(
    `insert into chain_events ${copied('e', `'id', e.id || copy.name`)} from chain_events e, ${copies}
      where e.id in (select unnest(array[hash, delivery_hash]) from ops where id = (${original}))`,
    [swapId],
  )
  await db.query(
    `insert into attempt_swaps (attempt_id, swap_id, role)
     select ${newId}, e.swap_id || copy.name, e.role
       from (select attempt_id as id, swap_id, role from attempt_swaps
              where attempt_id in (${attempts})) as e, ${copies}`,
    [swapId],
  )
  await db.query(
    `insert into tx_attempts overriding system value ${copied(
      'e',
      `'id', ${newId}, 'nonce', k.next_nonce + copy.i - 1,
       'tx_hash', e.tx_hash || copy.name, 'consumed_block', 1`,
    )}
       from tx_attempts e join sender_keys k on k.chain_id = e.chain_id and k.address = e.sender, ${copies}
      where e.id in (${attempts})`,
    [swapId],
  )
  await db.query(
    `update sender_keys k set next_nonce = next_nonce + ${count} from tx_attempts e
      where e.id in (${attempts}) and e.chain_id = k.chain_id and e.sender = k.address`,
    [swapId],
  )
  await db.query(
    "select setval(pg_get_serial_sequence('tx_attempts', 'id'), (select max(id) from tx_attempts))",
  )
}
