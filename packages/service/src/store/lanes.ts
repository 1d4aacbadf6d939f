import type { Pool, PoolClient } from 'pg'
import { type Db, inTransaction } from './db.ts'

export type Lease = { name: string; holder: string; fence: string }

export async function declareLanes(db: Db, names: readonly string[]): Promise<void> {
  await db.query('insert into lanes (name) select unnest($1::text[]) on conflict (name) do nothing', [names])
}

/** Takes up to `limit` free lanes. Times are the database's. */
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

/** The holder counts as well: after a restore from a backup the same fence may be issued again. */
function columnsOf(leases: readonly Lease[]): string[][] {
  return [
    leases.map(({ name }) => name),
    leases.map(({ fence }) => fence),
    leases.map(({ holder }) => holder),
  ]
}

/** Extends the held leases. Leases missing from the result were lost. */
export async function renewLanes(db: Db, leases: readonly Lease[], ttlMs: number): Promise<Set<string>> {
  const { rows } = await db.query<{ name: string }>(
    `update lanes l set expires_at = clock_timestamp() + make_interval(secs => $4)
       from unnest($1::text[], $2::bigint[], $3::uuid[]) as mine (name, fence, holder)
      where (l.name, l.fence, l.holder) = (mine.name, mine.fence, mine.holder)
  returning l.name`,
    [...columnsOf(leases), ttlMs / 1_000],
  )
  return new Set(rows.map((row) => row.name))
}

/** Releases lanes and notifies all workers, so that none waits for its next poll. */
export async function releaseLanes(db: Db, leases: readonly Lease[]): Promise<void> {
  await db.query(
    `with released as (
       update lanes l set expires_at = '-infinity'
         from unnest($1::text[], $2::bigint[], $3::uuid[]) as mine (name, fence, holder)
        where (l.name, l.fence, l.holder) = (mine.name, mine.fence, mine.holder)
    returning 1
     )
     select pg_notify('lanes', '') where exists (select 1 from released)`,
    columnsOf(leases),
  )
}

/** Asks the holder of a lane to hand it over. The holder may ignore it. */
export async function askForLane(db: Db, name: string): Promise<void> {
  await db.query(`select pg_notify('lanes', $1)`, [name])
}

/** SQL of one row while the lease is held, locked until the transaction ends. Its parameters are the last of `all`. */
export const heldBy = (all: number) =>
  `select 1 from lanes
    where name = $${all - 2} and fence = $${all - 1} and holder = $${all} and expires_at > clock_timestamp() for share`

export const leaseValues = ({ name, fence, holder }: Lease): string[] => [name, fence, holder]

/**
 * Locks the lease's row until the transaction ends. False if another worker has taken the lane: the caller must not
 * sign.
 */
export async function confirmLease(db: Db, lease: Lease): Promise<boolean> {
  const { rowCount } = await db.query(heldBy(3), leaseValues(lease))
  return rowCount === 1
}

/** Runs `decide` in a transaction that holds the lane. Undefined if another worker has taken the lane. */
export async function whileHeld<T>(
  pool: Pool,
  lease: Lease,
  decide: (db: PoolClient) => Promise<T>,
): Promise<T | undefined> {
  return inTransaction(pool, async (db) => ((await confirmLease(db, lease)) ? decide(db) : undefined))
}

/** The current holder of each lane, in random order; undefined if the lane is free. */
export async function readHolders(db: Db, names: readonly string[]) {
  const { rows } = await db.query<{ name: string; holder: string | null }>(
    `select name, case when expires_at > clock_timestamp() then holder end as holder
       from lanes where name = any($1) order by random()`,
    [names],
  )
  return rows.map(({ name, holder }) => ({ name, holder: holder ?? undefined }))
}

/** The number of lanes held by workers. The webhooks lane belongs to the API. */
export async function countWorkerLanes(db: Db): Promise<number> {
  const { rows } = await db.query<{ count: string }>(
    `select count(*) from lanes where name <> 'webhooks' and expires_at > clock_timestamp()`,
  )
  return Number(rows[0]?.count ?? 0)
}

type SlotsLease = {
  accountId: string
  /** The id of the process. */
  process: string
  /** The wanted total, including the slots already held. */
  want: number
  most: number
  ttlMs: number
}

/** Leases waiting-caller slots of an account. Returns the number that the process may hold until the lease expires. */
export async function leaseConnectionSlots(db: Db, lease: SlotsLease): Promise<number> {
  const { rows } = await db.query<{ places: number }>('select lease_places($1, $2, $3, $4, $5) as places', [
    lease.accountId,
    lease.process,
    lease.want,
    lease.most,
    lease.ttlMs / 1_000,
  ])
  return rows[0]?.places ?? 0
}
