import type { Db } from './db.ts'

export type PlacesLease = {
  accountId: string
  /** Whose lease it is: an id of the process. */
  process: string
  /** How many it wants to hold, with those that it has. */
  want: number
  most: number
  ttlMs: number
}

/** How many callers of the account the process may hold from now on, until the lease is over. */
export async function leasePlaces(db: Db, lease: PlacesLease): Promise<number> {
  const { rows } = await db.query<{ places: number }>({
    name: 'lease-places',
    text: 'select lease_places($1, $2, $3, $4, $5) as places',
    values: [lease.accountId, lease.process, lease.want, lease.most, lease.ttlMs / 1_000],
  })
  return rows[0]?.places ?? 0
}
