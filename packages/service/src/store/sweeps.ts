import type { LockRef } from '../chains/chain.ts'
import type { Db } from './db.ts'
import { LOCK_REF, type LockRefRow, toLockRef } from './ops.ts'
import { IS_OPEN } from './sql.ts'

/** A delivery with this deadline. `isOpen`: its swap is not ended, and needs the proof of the delivery. */
export type OldDelivery = { hash: string; fillDeadline: number; isOpen: boolean }

type Range = { chainId: number; after: number; upTo: number; limit: number }

/**
 * The deliveries on a chain with deadlines in this range, oldest first. May be more than the limit: the last deadline
 * is complete, so that the next page begins after it.
 */
export async function findOldDeliveries(
  db: Db,
  { chainId, after, upTo, limit }: Range,
): Promise<OldDelivery[]> {
  const { rows } = await db.query<{ hash: string; fill_deadline: string; is_open: boolean }>(
    `select o.delivery_hash as hash, o.fill_deadline, s.${IS_OPEN} as is_open
       from ops o join swaps s on s.op_id = o.id
      where o.destination_chain = $1 and o.fill_deadline > $2 and o.fill_deadline <= $3
        and s.delivery_tx_hash is not null
      order by o.fill_deadline fetch first $4 rows with ties`,
    [chainId, after, upTo, limit],
  )
  return rows.map((row) => ({
    hash: row.hash,
    fillDeadline: Number(row.fill_deadline),
    isOpen: row.is_open,
  }))
}

/** The payments on a chain that were not taken, with refund deadlines in this range, oldest first. */
export async function findUntaken(db: Db, { chainId, after, upTo, limit }: Range): Promise<LockRef[]> {
  const { rows } = await db.query<LockRefRow>(
    `select ${LOCK_REF} from ops o join swaps s on s.op_id = o.id
      where o.origin_chain = $1 and o.method = 'payment' and s.state = 'failed'
        and o.op_deadline < $3 and o.refund_deadline > $2 and o.refund_deadline <= $3
      order by o.refund_deadline fetch first $4 rows with ties`,
    [chainId, after, upTo, limit],
  )
  return rows.map(toLockRef)
}

export async function findSweepCursor(db: Db, chainId: number): Promise<number> {
  const { rows } = await db.query<{ fill_deadline: string }>(
    'select fill_deadline from sweep_cursors where chain_id = $1',
    [chainId],
  )
  return Number(rows[0]?.fill_deadline ?? 0)
}

export async function moveSweepCursor(db: Db, chainId: number, fillDeadline: number): Promise<void> {
  await db.query(
    `insert into sweep_cursors (chain_id, fill_deadline) values ($1, $2)
     on conflict (chain_id) do update set fill_deadline = excluded.fill_deadline`,
    [chainId, fillDeadline],
  )
}

export async function isSweepOpen(db: Db, key: { chainId: number; sender: string }): Promise<boolean> {
  const { rows } = await db.query(
    `select 1 from tx_attempts where chain_id = $1 and sender = $2 and role = 'sweep' and final_at is null limit 1`,
    [key.chainId, key.sender],
  )
  return rows.length > 0
}
