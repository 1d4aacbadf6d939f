import type { Db } from './db.ts'

export type Lease = { name: string; holder: string; fence: string }

/** Registers the lanes that exist. */
export async function declareLanes(db: Db, names: readonly string[]): Promise<void> {
  await db.query('insert into lanes (name) select unnest($1::text[]) on conflict (name) do nothing', [names])
}

/** Takes lanes that nobody holds, at most `limit`. Times are the database's. */
export async function takeLanes(
  db: Db,
  want: { names: readonly string[]; holder: string; ttlMs: number; limit: number },
): Promise<Lease[]> {
  const { rows } = await db.query<Lease>(
    `update lanes set holder = $2, fence = fence + 1, expires_at = clock_timestamp() + make_interval(secs => $3)
      where name in (select name from lanes where name = any($1) and expires_at < clock_timestamp()
                      order by random() limit $4 for update skip locked)
  returning name, holder, fence`,
    [want.names, want.holder, want.ttlMs / 1_000, want.limit],
  )
  return rows
}

/** Extends the leases still held; those missing from the answer were lost. */
export async function renewLanes(db: Db, leases: readonly Lease[], ttlMs: number): Promise<Set<string>> {
  const { rows } = await db.query<{ name: string }>(
    `update lanes l set expires_at = clock_timestamp() + make_interval(secs => $3)
       from unnest($1::text[], $2::bigint[]) as mine (name, fence)
      where l.name = mine.name and l.fence = mine.fence
  returning l.name`,
    [leases.map((lease) => lease.name), leases.map((lease) => lease.fence), ttlMs / 1_000],
  )
  return new Set(rows.map((row) => row.name))
}

export async function releaseLanes(db: Db, leases: readonly Lease[]): Promise<void> {
  await db.query(
    `update lanes l set expires_at = '-infinity'
       from unnest($1::text[], $2::bigint[]) as mine (name, fence)
      where l.name = mine.name and l.fence = mine.fence`,
    [leases.map((lease) => lease.name), leases.map((lease) => lease.fence)],
  )
}

/**
 * Holds the lease's row until the transaction ends. False when another worker has taken the lane: whoever
 * asks must not sign anything.
 */
export async function confirmLease(db: Db, lease: Lease): Promise<boolean> {
  const { rowCount } = await db.query(
    'select 1 from lanes where name = $1 and fence = $2 and expires_at > clock_timestamp() for share',
    [lease.name, lease.fence],
  )
  return rowCount === 1
}

/** How many processes hold one of these lanes now. */
export async function countHolders(db: Db, names: readonly string[]): Promise<number> {
  const { rows } = await db.query<{ count: string }>(
    'select count(distinct holder) from lanes where name = any($1) and expires_at > clock_timestamp()',
    [names],
  )
  return Number(rows[0]?.count ?? 0)
}

/** How many lanes workers hold now; the one of the webhooks is the API's. */
export async function countWorkerLanes(db: Db): Promise<number> {
  const { rows } = await db.query<{ count: string }>(
    `select count(*) from lanes where name <> 'webhooks' and expires_at > clock_timestamp()`,
  )
  return Number(rows[0]?.count ?? 0)
}
