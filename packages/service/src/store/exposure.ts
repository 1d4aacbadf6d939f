import type { Swap } from '../model/swap.ts'
import type { Db } from './db.ts'

// Value that is delivered against locks that a reorg can still undo, by the chain of the lock.

type Exposure = { chainId: number; swaps: readonly Swap[]; capCents: bigint }

/**
 * Books value delivered against locks that are not final; false when the chain's cap leaves no room. A lock
 * that became final meanwhile books nothing: what is booked is given back only when a lock becomes final.
 */
export async function bookExposure(db: Db, { chainId, swaps, capCents }: Exposure): Promise<boolean> {
  const { rows } = await db.query<{ cents: string }>(
    `with exposed as (
       update swaps s set exposed_cents = o.value_cents from ops o
        where o.id = s.op_id and s.id = any($1) and not s.origin_final and not s.origin_safe
    returning o.value_cents
     )
     select coalesce(sum(value_cents), 0) as cents from exposed`,
    [swaps.map((swap) => swap.id)],
  )
  const { rowCount } = await db.query(
    `insert into exposure as e (chain_id, cents) select $1, $2 where $2::bigint <= $3::bigint
     on conflict (chain_id) do update set cents = e.cents + $2 where e.cents + $2 <= $3`,
    [chainId, rows[0]?.cents ?? '0', capCents],
  )
  return rowCount === 1
}

/** What is booked for each chain now, in cents. */
export async function readExposed(db: Db): Promise<Map<number, bigint>> {
  const { rows } = await db.query<{ chain_id: string; cents: string }>('select chain_id, cents from exposure')
  return new Map(rows.map(({ chain_id, cents }) => [Number(chain_id), BigInt(cents)]))
}

/**
 * Notes that the lock can no longer be undone, and gives back the exposure booked for it. Repeatable. What is booked
 * at this moment has a row that an update would not see if it is the first of its chain: a conflict with it does.
 */
export async function markOriginFinal(db: Db, swaps: readonly Swap[]): Promise<void> {
  await db.query(
    `with marked as (
       update swaps s set origin_final = true
        where s.id = any($1) and not s.origin_final
    returning s.origin_chain, s.exposed_cents
     )
     insert into exposure as e (chain_id, cents)
     select origin_chain, sum(exposed_cents) from marked group by 1
     on conflict (chain_id) do update set cents = e.cents - excluded.cents`,
    [swaps.map((swap) => swap.id)],
  )
}

type Safe = { chainId: number; after: bigint; upTo: bigint }

/** Gives back the exposure of locks whose blocks became safe: those after one block, up to another. */
export async function markOriginSafe(db: Db, { chainId, after, upTo }: Safe): Promise<void> {
  await db.query(
    `with safe as (
       update swaps s set origin_safe = true, exposed_cents = 0
         from (select w.id, w.exposed_cents from swaps w
                where w.origin_chain = $1 and w.locked_block > $2 and w.locked_block <= $3
                  and not w.origin_final and not w.origin_safe
                  and w.state not in ('accepted', 'locking', 'closed', 'refunded', 'failed') for update) as b
        where b.id = s.id
    returning b.exposed_cents
     )
     update exposure e set cents = e.cents - (select coalesce(sum(exposed_cents), 0) from safe) where e.chain_id = $1`,
    [chainId, after.toString(), upTo.toString()],
  )
}

/**
 * Beside the move that ends the swap. What was booked for it stays booked: it came true. What was given back, or never
 * booked since its lock was final, is booked now.
 */
export async function insertLostInput(db: Db, swap: Swap): Promise<void> {
  await db.query(
    `with lost as (
       insert into lost_inputs (swap_id, chain_id, cents)
       select s.id, s.origin_chain, o.value_cents from swaps s join ops o on o.id = s.op_id where s.id = $1
    returning swap_id, chain_id, cents
     )
     insert into exposure as e (chain_id, cents)
     select l.chain_id, l.cents - case when s.origin_final then 0 else s.exposed_cents end
       from lost l join swaps s on s.id = l.swap_id
     on conflict (chain_id) do update set cents = e.cents + excluded.cents`,
    [swap.id],
  )
}

export type LostInput = { swapId: string; chainId: number; cents: bigint; at: Date }

/** Inputs that were lost and are not written off, the oldest first. */
export async function findLostInputs(db: Db): Promise<LostInput[]> {
  const { rows } = await db.query<{ swap_id: string; chain_id: string; cents: string; at: Date }>(
    'select swap_id, chain_id, cents, at from lost_inputs where written_off_at is null order by at',
  )
  return rows.map(({ swap_id, chain_id, cents, at }) => ({
    ...{ swapId: swap_id, chainId: Number(chain_id), cents: BigInt(cents), at },
  }))
}

/** Gives its exposure back, once. False when there is nothing to write off. */
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
     update exposure e set cents = e.cents - w.cents from written w where e.chain_id = w.chain_id`,
    [swapId, note],
  )
  return rowCount === 1
}
