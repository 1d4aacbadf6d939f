import type { Db } from './db.ts'

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
  const { rows } = await db.query<{ places: number }>({
    name: 'lease-places',
    text: 'select lease_places($1, $2, $3, $4, $5) as places',
    values: [lease.accountId, lease.process, lease.want, lease.most, lease.ttlMs / 1_000],
  })
  return rows[0]?.places ?? 0
}
