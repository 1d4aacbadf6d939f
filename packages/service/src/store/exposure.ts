import { largest } from '../swap/amount.ts'
import type { OriginCaps } from '../swap/exposure.ts'
import { endedStates, unlockedStates } from '../swap/lifecycle.ts'
import type { Swap } from '../swap/swap.ts'
import type { Db } from './db.ts'
import { listOf } from './sql.ts'

// Value delivered against locks that a reorg can still undo, and delivered value whose input is not finally claimed;
// both by the origin chain.

/** The booked parts of the caps of an origin. */
export type Booked = Required<OriginCaps>
type Delivery = { chainId: number; swaps: readonly Swap[]; caps: OriginCaps }

/**
 * Books value that is about to be delivered. False if a cap of the chain has no room. A lock that became final in the
 * meantime adds no exposure, because exposure is only freed when a lock becomes final. Repeatable: each swap counts
 * once.
 */
export async function bookDelivery(db: Db, { chainId, swaps, caps }: Delivery): Promise<boolean> {
  const { rows } = await db.query<Record<'exposed' | 'fast' | 'unclaimed', string>>(
    `with before as (
       select s.id, o.value_cents, s.is_paid_fast,
              not s.origin_final and not s.origin_safe and s.exposed_cents = 0 as exposes,
              s.unclaimed_cents = 0 as is_unbooked
         from swaps s join ops o on o.id = s.op_id where s.id = any($1) for update of s
     ), booked as (
       update swaps s set exposed_cents = case when b.exposes then b.value_cents else s.exposed_cents end,
                          unclaimed_cents = case when b.is_unbooked then b.value_cents else s.unclaimed_cents end
         from before b where s.id = b.id and (b.exposes or b.is_unbooked)
     )
     select coalesce(sum(value_cents) filter (where exposes and not is_paid_fast), 0) as exposed,
            coalesce(sum(value_cents) filter (where exposes and is_paid_fast), 0) as fast,
            coalesce(sum(value_cents) filter (where is_unbooked), 0) as unclaimed from before`,
    [swaps.map((swap) => swap.id)],
  )
  const { exposed, fast, unclaimed } = rows[0] ?? { exposed: '0', fast: '0', unclaimed: '0' }
  const { exposedCents, unclaimedCents, fastCents = 0n } = caps
  const { rowCount } = await db.query(
    `insert into exposure as e (chain_id, cents, unclaimed_cents)
     select $1, $2::bigint + $6::bigint, $3 where ${FITS({ cents: '0', fast: '0', unclaimed: '0' })}
     on conflict (chain_id) do update set cents = e.cents + $2 + $6, unclaimed_cents = e.unclaimed_cents + $3
      where ${FITS({ cents: 'e.cents', fast: 'e.fast_cents - $6', unclaimed: 'e.unclaimed_cents' })}`,
    [chainId, exposed, unclaimed, exposedCents, unclaimedCents, fast, largest(exposedCents, fastCents)],
  )
  return rowCount === 1
}

/**
 * The rules of `originRoom`, for what is booked without these swaps. A trigger has counted the fast ones already, and
 * so made the row. Adding nothing always fits, even if a cap was lowered below the booked value.
 */
const FITS = ({ cents, fast, unclaimed }: Record<'cents' | 'fast' | 'unclaimed', string>) =>
  `($2::bigint = 0 or ${cents} - (${fast}) + $2::bigint <= $4::bigint)
   and ($6::bigint = 0 or ${fast} + $6::bigint <= $7::bigint - $4::bigint)
   and ($2::bigint + $6::bigint = 0 or ${cents} + $2::bigint + $6::bigint <= $7::bigint)
   and ($3::bigint = 0 or ${unclaimed} + $3::bigint <= $5::bigint)`

/** The booked values of each chain. */
export async function readBooked(db: Db): Promise<Map<number, Booked>> {
  const { rows } = await db.query<BookedRow>(`select ${BOOKED_COLUMNS.join(', ')} from exposure`)
  return toBooked(rows)
}

export const BOOKED_COLUMNS = ['chain_id', 'cents', 'fast_cents', 'unclaimed_cents'] as const
export type BookedRow = Record<(typeof BOOKED_COLUMNS)[number], string>

export function toBooked(rows: readonly BookedRow[]): Map<number, Booked> {
  return new Map(
    rows.map(({ chain_id, cents, fast_cents, unclaimed_cents }) => [
      Number(chain_id),
      {
        exposedCents: BigInt(cents),
        fastCents: BigInt(fast_cents),
        unclaimedCents: BigInt(unclaimed_cents),
      },
    ]),
  )
}

/**
 * Marks locks as final and frees their exposure. Repeatable. The upsert matters: a concurrent first booking of the
 * chain inserts a row that a plain update would not see.
 */
export async function markOriginFinal(db: Db, swaps: readonly Swap[]): Promise<void> {
  await db.query(
    `with held as (
       select id from swaps where id = any($1) and not origin_final order by id for update
     ), marked as (
       update swaps s set origin_final = true from held h where s.id = h.id
    returning s.origin_chain, s.exposed_cents
     )
     insert into exposure as e (chain_id, cents)
     select origin_chain, sum(exposed_cents) from marked group by 1
     on conflict (chain_id) do update set cents = e.cents - excluded.cents`,
    [swaps.map((swap) => swap.id)],
  )
}

type Safe = { chainId: number; after: bigint; upTo: bigint }

/** Frees the exposure of locks whose blocks became safe: after `after`, up to `upTo`. */
export async function markOriginSafe(db: Db, { chainId, after, upTo }: Safe): Promise<void> {
  await db.query(
    `with safe as (
       update swaps s set origin_safe = true, exposed_cents = 0
         from (select w.id, w.exposed_cents from swaps w
                where w.origin_chain = $1 and w.locked_block > $2 and w.locked_block <= $3
                  and not w.origin_final and not w.origin_safe
                  and w.state not in ${listOf([...unlockedStates, ...endedStates])} for update) as b
        where b.id = s.id
    returning b.exposed_cents
     )
     update exposure e set cents = e.cents - (select coalesce(sum(exposed_cents), 0) from safe) where e.chain_id = $1`,
    [chainId, after.toString(), upTo.toString()],
  )
}

/**
 * Records a lost input, with the transition that ends the swap. Its booked exposure stays booked. Exposure that was
 * freed, or never booked because the lock was final, is booked now.
 */
export async function insertLostInput(db: Db, swap: Swap): Promise<void> {
  await db.query(
    `with lost as (
       insert into lost_inputs (swap_id, chain_id, cents)
       select s.id, s.origin_chain, o.value_cents from swaps s join ops o on o.id = s.op_id where s.id = $1
    returning swap_id, chain_id, cents
     )
     insert into exposure as e (chain_id, cents, unclaimed_cents)
     select l.chain_id, l.cents - case when s.origin_final then 0 else s.exposed_cents end,
            l.cents - s.unclaimed_cents
       from lost l join swaps s on s.id = l.swap_id
     on conflict (chain_id) do update set cents = e.cents + excluded.cents,
                                          unclaimed_cents = e.unclaimed_cents + excluded.unclaimed_cents`,
    [swap.id],
  )
}

type LostInput = { swapId: string; chainId: number; cents: bigint; at: Date }

/** Lost inputs that are not written off, oldest first. */
export async function findLostInputs(db: Db): Promise<LostInput[]> {
  const { rows } = await db.query<{ swap_id: string; chain_id: string; cents: string; at: Date }>(
    'select swap_id, chain_id, cents, at from lost_inputs where written_off_at is null order by at',
  )
  return rows.map(({ swap_id, chain_id, cents, at }) => ({
    swapId: swap_id,
    chainId: Number(chain_id),
    cents: BigInt(cents),
    at,
  }))
}

/** Frees the exposure of a lost input, once. False if there is nothing to write off. */
export async function writeOffInput(
  db: Db,
  { swapId, note }: { swapId: string; note: string },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `with written as (
       update lost_inputs set written_off_at = clock_timestamp(), note = $2
        where swap_id = $1 and written_off_at is null
    returning chain_id, cents
     )
     update exposure e set cents = e.cents - w.cents, unclaimed_cents = e.unclaimed_cents - w.cents
       from written w where e.chain_id = w.chain_id`,
    [swapId, note],
  )
  return rowCount === 1
}
