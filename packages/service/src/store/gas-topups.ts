import type { Db } from './db.ts'
import { isOpenAt } from './open-at.ts'

type NewTopUp = { attemptId: string; chainId: number; block: bigint; address: string; amount: bigint }

/** The sum of top-ups signed in the last 24 hours on a chain, whatever their outcome. */
export async function sumTopUpsOfDay(db: Db, chainId: number): Promise<bigint> {
  const { rows } = await db.query<{ total: string }>(
    `select coalesce(sum(amount), 0) as total from gas_topups
      where chain_id = $1 and created_at > clock_timestamp() - interval '24 hours'`,
    [chainId],
  )
  return BigInt(rows[0]?.total ?? 0)
}

/** Keys whose balance at this block may not include a signed top-up. */
export async function findAwaitingTopUp(
  db: Db,
  at: { chainId: number; block: bigint },
): Promise<Set<string>> {
  const { rows } = await db.query<{ address: string }>(
    `select t.address from gas_topups t join tx_attempts a on a.id = t.attempt_id
      where t.chain_id = $1 and ${isOpenAt('$2')}`,
    [at.chainId, at.block.toString()],
  )
  return new Set(rows.map(({ address }) => address))
}

/**
 * Books a top-up in the transaction that records its bytes. Concurrent bookings wait. False if the daily limit would be
 * exceeded, or another top-up of the key is pending.
 */
export async function bookTopUp(db: Db, topUp: NewTopUp, maxPerDay: bigint): Promise<boolean> {
  const { attemptId, chainId, address, amount } = topUp
  // Only a worker can lock this row: another role could hold an advisory lock for ever.
  await db.query('select 1 from sender_keys where chain_id = $1 order by address limit 1 for update', [
    chainId,
  ])
  if ((await findAwaitingTopUp(db, topUp)).has(address)) return false
  if ((await sumTopUpsOfDay(db, chainId)) + amount > maxPerDay) return false
  await db.query('insert into gas_topups (attempt_id, chain_id, address, amount) values ($1, $2, $3, $4)', [
    attemptId,
    chainId,
    address,
    amount.toString(),
  ])
  return true
}
