import { Pool, type PoolClient } from 'pg'
import type { Address } from 'viem'
import type { Shaped } from './shaped.ts'

type Sent = { chainId: string; sender: Address; nonce: string }

/**
 * Stores this many copies of a swap that is settled but not final, with its events and transactions, as if
 * its keys had sent them all: the chains' nonces are raised.
 */
export async function copyOpenSwap(shaped: Shaped, swapId: string, count: number): Promise<void> {
  const pool = new Pool({ connectionString: shaped.network.databaseUrl, max: 1 })
  const db = await pool.connect()
  try {
    const { rows: sent } = await db.query<Sent>(
      `select distinct a.chain_id as "chainId", a.sender, k.next_nonce as nonce
         from attempt_swaps l
         join tx_attempts a on a.id = l.attempt_id
         join sender_keys k on k.chain_id = a.chain_id and k.address = a.sender
        where l.swap_id = $1 and l.role in ('lock', 'deliver')`,
      [swapId],
    )
    for (const each of sent) await raiseNonce(shaped, each, count)
    // Triggers would write the same, one row at a time.
    await db.query("begin; set local session_replication_role = 'replica'")
    const chains = shaped.network.local.chains.map(({ chainId, shape }) => ({
      chainId,
      blockMs: shape?.blockMs ?? 1_000,
    }))
    await copyRows(db, { swapId, count, sent, chains })
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

type Copied = {
  swapId: string
  count: number
  sent: readonly Sent[]
  chains: readonly { chainId: number; blockMs: number }[]
}

const AGE_MS = 240_000

async function copyRows(db: PoolClient, { swapId, count, sent, chains }: Copied): Promise<void> {
  const run = (sql: string) => db.query(sql, [swapId])
  const op = (original: string) => `md5(${original}::text || copy.name)::uuid`
  const original = '(select op_id from swaps where id = $1)'
  const attempts = `(select attempt_id from attempt_swaps where swap_id = $1 and role in ('lock', 'deliver'))`
  // A worker that sees the raised nonce on its chain raises its own.
  const nonces = sent.map(({ chainId, sender, nonce }) => `(${chainId}, '${sender}', ${nonce}::bigint)`)
  const keys = `(values ${nonces.join()}) as k (chain_id, address, next_nonce)`
  const newId = 'e.id * 10000000 + copy.i'
  /** Copies the rows of a table once per copy, with some fields changed. */
  const copied = (from: string, fields: string) =>
    `select made.* from ${from}
      cross join (select i, lpad(to_hex(i), 12, '0') as name from generate_series(1, ${count}) as i) as copy
      cross join lateral jsonb_populate_record(e, jsonb_build_object(${fields})) as made`
  await run(
    `insert into ops ${copied(
      'ops e',
      `'id', ${op('e.id')}, 'quote_id', ${op('e.id')}, 'hash', e.hash || copy.name,
       'delivery_hash', e.delivery_hash || copy.name`,
    )} where e.id = ${original}`,
  )
  await run(
    `insert into swaps ${copied(
      'swaps e',
      `'id', e.id || copy.name, 'op_id', ${op('e.op_id')}, 'quote_id', ${op('e.op_id')}`,
    )} where e.id = $1`,
  )
  // Before the blocks that are read again with every head, and after the final ones.
  const blocks = chains.map(({ chainId, blockMs }) => `when ${chainId} then ${Math.floor(AGE_MS / blockMs)}`)
  const block = `e.block - case e.chain_id ${blocks.join(' ')} end`
  await run(
    `insert into chain_events ${copied('chain_events e', `'id', e.id || copy.name, 'block', ${block}`)}
      where e.id in (select unnest(array[hash, delivery_hash]) from ops where id = ${original})`,
  )
  await run(
    `insert into attempt_swaps ${copied(
      'attempt_swaps e',
      `'attempt_id', ${newId.replace('e.id', 'e.attempt_id')}, 'swap_id', e.swap_id || copy.name`,
    )} where e.attempt_id in ${attempts}`,
  )
  await run(
    `insert into tx_attempts overriding system value ${copied(
      `tx_attempts e join ${keys} on k.chain_id = e.chain_id and k.address = e.sender`,
      `'id', ${newId}, 'nonce', k.next_nonce + copy.i - 1, 'tx_hash', e.tx_hash || copy.name, 'consumed_block', 1`,
    )} where e.id in ${attempts}`,
  )
  await run(
    `update sender_keys s set next_nonce = greatest(s.next_nonce, k.next_nonce + ${count}) from ${keys}
      where s.chain_id = k.chain_id and s.address = k.address and $1 <> ''`,
  )
  await db.query(
    "select setval(pg_get_serial_sequence('tx_attempts', 'id'), (select max(id) from tx_attempts))",
  )
}
