import type { Db } from './db.ts'
import { IS_OPEN } from './sql.ts'

/** How long an unsubmitted op is kept after its expiry: far longer than it can be submitted or locked. */
export const OP_KEPT_MS = 86_400_000

/** The cursor through ops by expiry. It has microseconds, unlike a Date. */
type OpCursor = { expiresAt: string; id: string }

export const FIRST_OP: OpCursor = { expiresAt: '-infinity', id: '00000000-0000-0000-0000-000000000000' }

/** The result of one page: the next cursor, and whether the end is reached. */
type DeletedPage<Cursor> = { deleted: number; last: Cursor; isEnd: boolean }

/**
 * Deletes expired ops that were never submitted. Reads the next `limit` after a cursor, because submitted ops stay
 * forever and should not be read each time.
 */
export async function deleteUnsubmittedOps(
  db: Db,
  { olderThanHours, after, limit }: { olderThanHours: number; after: OpCursor; limit: number },
): Promise<DeletedPage<OpCursor>> {
  const { rows } = await db.query<{ deleted: number; looked: number; expires_at: string; id: string }>(
    `with looked as materialized (
       select o.id, o.expires_at from ops o
        where (o.expires_at, o.id) > ($2::timestamptz, $3::uuid) and o.expires_at < now() - make_interval(hours => $1)
        order by o.expires_at, o.id limit $4
     ), deleted as (
       delete from ops o using looked l
        where o.id = l.id
          and not exists (select 1 from swaps s where s.op_id = l.id)
          and not exists (select 1 from ring_positions p where p.op_id = l.id)
    returning o.id
     )
     select (select count(*) from deleted)::int as deleted, count(*) over ()::int as looked, l.expires_at::text, l.id
       from looked l order by l.expires_at desc, l.id desc limit 1`,
    [olderThanHours, after.expiresAt, after.id, limit],
  )
  const row = rows[0]
  if (!row) return { deleted: 0, last: after, isEnd: true }
  const last = { expiresAt: row.expires_at, id: row.id }
  return { deleted: row.deleted, last, isEnd: row.looked < limit }
}

/**
 * Deletes events of the chains that are final and processed, of swaps that ended or of none. Returns their number. A
 * rebuild reads the chains themselves.
 */
export async function deleteDoneEvents(
  db: Db,
  { olderThanDays, limit }: { olderThanDays: number; limit: number },
): Promise<number> {
  const { rowCount } = await db.query(
    `delete from chain_events e using (
       select d.chain_id, d.kind, d.id from chain_events d
        where d.final and d.stored_at < now() - make_interval(days => $1)
          and not exists (select 1 from ops o join swaps s on s.op_id = o.id
                           where o.hash = d.id and d.kind <> 'delivered' and s.${IS_OPEN})
          and not exists (select 1 from ops o join swaps s on s.op_id = o.id
                           where o.delivery_hash = d.id and d.kind = 'delivered' and s.${IS_OPEN})
        order by d.stored_at limit $2) done
      where e.chain_id = done.chain_id and e.kind = done.kind and e.id = done.id`,
    [olderThanDays, limit],
  )
  return rowCount ?? 0
}

type EventCursor = { swapId: string; seq: number }

export const FIRST_EVENT: EventCursor = { swapId: '', seq: 0 }

/**
 * Deletes events of a month that cannot be dropped yet: those of ended swaps, except the last event of each and due
 * webhook deliveries. Reads the next `limit` after a cursor.
 */
export async function deleteEventsOf(
  db: Db,
  { month, after, limit }: { month: string; after: EventCursor; limit: number },
): Promise<DeletedPage<EventCursor>> {
  const { rows } = await db.query<{ deleted: number; looked: number; swap_id: string; seq: number }>(
    `with looked as materialized (
       select swap_id, seq, position from ${month} where (swap_id, seq) > ($1, $2) order by swap_id, seq limit $3
     ), deleted as (
       delete from ${month} e using looked l join swaps s on s.id = l.swap_id
        where e.swap_id = l.swap_id and e.seq = l.seq
          and l.position is not null and l.seq < s.seq and swap_status(s.state) <> 'pending'
          and not exists (select 1 from webhook_deliveries d where d.position = l.position)
    returning e.seq
     )
     select (select count(*) from deleted)::int as deleted, count(*) over ()::int as looked, l.swap_id, l.seq
       from looked l order by l.swap_id desc, l.seq desc limit 1`,
    [after.swapId, after.seq, limit],
  )
  const row = rows[0]
  if (!row) return { deleted: 0, last: after, isEnd: true }
  return { deleted: row.deleted, last: { swapId: row.swap_id, seq: row.seq }, isEnd: row.looked < limit }
}
