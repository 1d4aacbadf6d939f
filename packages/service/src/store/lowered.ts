import type { Paid } from '../model/follow-price.ts'
import type { Swap } from '../model/swap.ts'
import type { Db } from './db.ts'
import { PAY_AMOUNT } from './op-columns.ts'

/**
 * Lowers what these swaps are paid, and what is reserved for them, in the transaction that records their lock. False
 * if one of them has moved: the caller rolls back.
 */
export async function lowerAmounts(db: Db, swaps: readonly (Swap & { lowered?: Paid })[]): Promise<boolean> {
  const lowered = swaps.flatMap(({ id, version, lowered: to }) => (to ? [{ id, version, ...to }] : []))
  if (lowered.length === 0) return true
  const { rows } = await db.query<{ count: number }>(
    `with held as (
       select s.id, o.destination_chain, o.pay_token, v.output, v.pay, ${PAY_AMOUNT} - v.pay as freed
         from unnest($1::text[], $2::int[], $3::numeric[], $4::numeric[]) as v (id, version, output, pay)
         join swaps s on s.id = v.id and s.version = v.version join ops o on o.id = s.op_id
          for update of s
     ), lowered as (
       update swaps s set lowered_output = h.output, lowered_pay = h.pay from held h where s.id = h.id
     ), freed as (
       update inventory i set reserved = i.reserved - f.amount
         from (select destination_chain, pay_token, sum(freed) as amount from held group by 1, 2) f
        where i.chain_id = f.destination_chain and i.token = f.pay_token
     )
     select count(*)::int as count from held`,
    [
      lowered.map(({ id }) => id),
      lowered.map(({ version }) => version),
      lowered.map(({ output }) => output.toString()),
      lowered.map(({ pay }) => pay.toString()),
    ],
  )
  return rows[0]?.count === lowered.length
}
