import { claimableStates, reservingStates, type SwapState, unpaidEndStates } from '../swap/lifecycle.ts'
import type { Paid } from '../swap/price-tolerance.ts'
import type { Swap } from '../swap/swap.ts'
import type { Db } from './db.ts'
import { PAY_AMOUNT } from './op-columns.ts'
import { listOf } from './sql.ts'

// SQL of state transitions, used only by store/swaps.ts.

export const ADVANCE_TOGETHER = `
  update swaps s
     set state = $3, version = s.version + 1,
         updated_at = case when $5::jsonb is null then s.updated_at else clock_timestamp() end,
         delivery_tx_hash = coalesce($4, s.delivery_tx_hash),
         timeline = case when $5::jsonb is null then s.timeline
                    else s.timeline || jsonb_build_array($5::jsonb || jsonb_build_object('at', utc_now())) end
    from unnest($1::text[], $2::int[]) as m (id, version)
   where s.id = m.id and s.version = m.version`

const ENDS_UNDELIVERED = `$3 in ${listOf(unpaidEndStates)}`

/** The transition, and the release of exposure, claim booking and reserved inventory. */
export const ADVANCE = `
  with moved as (
    update swaps
       set state = $3, version = version + 1,
           updated_at = case when $12::jsonb is null then updated_at else clock_timestamp() end,
           locked_block = case when $3 = 'locking' then null else coalesce($15, locked_block) end,
           delivered_block = coalesce($19, delivered_block),
           origin_safe = origin_safe and $3 <> 'locking',
           origin_tx_hash = case when $3 = 'locking' then null else coalesce($4, origin_tx_hash) end,
           delivery_tx_hash = coalesce($5, delivery_tx_hash),
           refund_tx_hash = coalesce($6, refund_tx_hash), credited = coalesce($7, credited),
           delivered = coalesce($8, delivered), failure_code = coalesce($9, failure_code),
           refund_reason = coalesce($10, refund_reason), proof = coalesce($11, proof),
           deposit = coalesce($20::jsonb, deposit),
           timeline = case when $12::jsonb is null then timeline
                      else timeline || jsonb_build_array($12::jsonb || jsonb_build_object('at', utc_now())) end
     where id = $1 and version = $2
 returning version, op_id, lowered_pay, origin_chain, origin_final, exposed_cents, unclaimed_cents, claim_booked,
           input_token, input_amount
  ), unexposed as (
    -- A final lock has already freed its exposure; a swap that ends without one frees it here.
    -- A delivery counts as unclaimed until its input is claimed or never will be; a lost one until it is written off.
    update exposure e
       set cents = e.cents
                 - case when ${ENDS_UNDELIVERED} and not m.origin_final then m.exposed_cents else 0 end,
           unclaimed_cents = e.unclaimed_cents
                           - case when $16::boolean and not $18::boolean then m.unclaimed_cents else 0 end
      from moved m
     where (${ENDS_UNDELIVERED} and not m.origin_final or $16::boolean) and e.chain_id = m.origin_chain
  ), unbooked as (
    -- The arithmetic of withClaimed in model/claim-room.ts.
    update claim_books b
       set open = b.open - m.input_amount,
           claimed = case when $17::bigint is null or $17 < b.hour then b.claimed
                          when $17 = b.hour then b.claimed + m.input_amount else m.input_amount end,
           hour = greatest(b.hour, $17)
      from moved m
     where $16::boolean and m.claim_booked and b.chain_id = m.origin_chain and b.token = m.input_token
  ), released as (
    update inventory i
       set reserved = i.reserved - coalesce(m.lowered_pay, o.pay_amount),
           held = i.held - case when $14::boolean then coalesce(m.lowered_pay, o.pay_amount) else 0 end
      from moved m join ops o on o.id = m.op_id
     where $13::boolean and i.chain_id = o.destination_chain and i.token = o.pay_token
  )
  select version from moved`

export function releasesReservation(from: SwapState, to: SwapState): boolean {
  return reservingStates.includes(from) && !reservingStates.includes(to)
}

/** Whether the transition ends the booking of the claim: the input was finally claimed, or never will be. */
export function releasesClaim(from: SwapState, to: SwapState): boolean {
  return claimableStates.includes(from) && !claimableStates.includes(to)
}

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
