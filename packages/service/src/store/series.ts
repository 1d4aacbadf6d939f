import type { Bucket } from '../model/series.ts'
import type { Db } from './db.ts'

type Row = {
  at: Date
  settled: number
  refunded: number
  failed: number
  cents: string
  quantiles: [p50: number, p95: number, p99: number] | null
}

type Window = { from: Date; bucketSeconds: number }

/**
 * Swaps that ended since `from`, in buckets aligned to the epoch. Uses the times of the event log, so that the cost
 * depends on the window only. A swap ends once: later events of an ended swap do not count.
 */
export async function readSeries(db: Db, { from, bucketSeconds }: Window): Promise<Bucket[]> {
  const { rows } = await db.query<Row>(
    `with ended as (
       select e.swap_id, e.at, swap_status(e.state) as status
         from swap_events e
        where e.at >= $1 and swap_status(e.state) <> 'pending'
          and not exists (select 1 from swap_events before
                           where before.swap_id = e.swap_id and before.seq < e.seq
                             and swap_status(before.state) <> 'pending')
     )
     select date_bin(make_interval(secs => $2), e.at, 'epoch') as at,
            count(*) filter (where e.status = 'settled')::int as settled,
            count(*) filter (where e.status = 'refunded')::int as refunded,
            count(*) filter (where e.status = 'failed')::int as failed,
            coalesce(sum(o.value_cents) filter (where e.status = 'settled'), 0)::text as cents,
            percentile_cont(array[0.5, 0.95, 0.99]) within group (
              order by extract(epoch from e.at - s.created_at)::float8)
              filter (where e.status = 'settled') as quantiles
       from ended e join swaps s on s.id = e.swap_id join ops o on o.id = s.op_id
      group by 1 order by 1`,
    [from, bucketSeconds],
  )
  return rows.map(toBucket)
}

function toBucket({ quantiles, cents, ...row }: Row): Bucket {
  const times = quantiles && { p50: quantiles[0], p95: quantiles[1], p99: quantiles[2] }
  return { ...row, volumeCents: BigInt(cents), ...times }
}
