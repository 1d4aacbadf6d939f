import type { Db } from './db.ts'

/** A request for tokens (`want` > 0), or a return of tokens (`want` < 0), of one bucket. */
export type Lease = { accountId: string; rateClass: string; rate: number; burst: number; want: number }
/** The granted tokens, and the tokens left in the bucket. */
export type Granted = { granted: number; tokens: number }

/**
 * Takes tokens out of shared buckets, in one statement and by the database's clock. Grants whole tokens only, in the
 * order of the leases. An unused bucket is full.
 */
export async function leaseBudgets(db: Db, leases: readonly Lease[]): Promise<Granted[]> {
  const { rows } = await db.query<Granted>({
    name: 'lease-rate-budgets',
    text: `select granted, tokens
             from unnest($1::text[], $2::text[], $3::float8[], $4::float8[], $5::float8[])
                  with ordinality as wish (account_id, class, rate, burst, want, position)
            cross join lateral lease_rate_budget(account_id, class, rate, burst, want)
            order by position`,
    values: [
      leases.map((lease) => lease.accountId),
      leases.map((lease) => lease.rateClass),
      leases.map((lease) => lease.rate),
      leases.map((lease) => lease.burst),
      leases.map((lease) => lease.want),
    ],
  })
  return rows
}
