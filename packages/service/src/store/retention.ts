import type { Db } from './db.ts'

/** Ops that nobody submitted and nobody can: a build leaves one behind, a swap needs it. Returns how many went. */
export async function deleteUnsubmittedOps(
  db: Db,
  { olderThanHours, limit }: { olderThanHours: number; limit: number },
): Promise<number> {
  const { rowCount } = await db.query(
    `delete from ops where id in (
       select o.id from ops o
        where o.expires_at < clock_timestamp() - make_interval(hours => $1)
          and not exists (select 1 from swaps s where s.op_id = o.id)
          and not exists (select 1 from ring_positions p where p.op_id = o.id)
        order by o.expires_at limit $2
     )`,
    [olderThanHours, limit],
  )
  return rowCount ?? 0
}

/**
 * Events of a month that cannot be dropped yet: those of swaps that are over, but for the last one of each and what a
 * webhook is owed. Returns how many went.
 */
export async function deleteEventsOf(
  db: Db,
  { month, limit }: { month: string; limit: number },
): Promise<number> {
  const { rowCount } = await db.query(
    `delete from ${month} where (swap_id, seq) in (
       select e.swap_id, e.seq from ${month} e join swaps s on s.id = e.swap_id
        where e.position is not null and e.seq < s.seq and swap_status(s.state) <> 'pending'
          and not exists (select 1 from webhook_deliveries d where d.position = e.position)
        limit $1
     )`,
    [limit],
  )
  return rowCount ?? 0
}
