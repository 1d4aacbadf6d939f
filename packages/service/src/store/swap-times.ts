import { MAX_SAMPLES } from '../model/eta.ts'
import type { Db } from './db.ts'

/** A settled swap, and the depth at which its lock was accepted. */
export type SettledSwap = { swapId: string; depth: number }

/**
 * Adds the times from submission to `settled` (`delivered` in timelines), and keeps the last hundred per route and
 * depth.
 */
export async function addSwapTimes(db: Db, settled: readonly SettledSwap[]): Promise<void> {
  if (settled.length === 0) return
  await db.query(
    `insert into swap_times as t (origin_chain, destination_chain, depth, durations_ms)
     select s.origin_chain, s.destination_chain, m.depth,
            (array_agg(least(extract(epoch from e.at - s.created_at) * 1000, 2147483647)::int order by e.at desc))[1:$3]
       from unnest($1::text[], $2::int[]) as m (swap_id, depth)
       join swaps s on s.id = m.swap_id
      cross join lateral (select (l ->> 'at')::timestamptz as at from jsonb_array_elements(s.timeline) as l
                           where l ->> 'stage' = 'delivered' limit 1) as e
      group by 1, 2, 3
         on conflict (origin_chain, destination_chain, depth) do update
        set durations_ms = (excluded.durations_ms || t.durations_ms)[1:$3]`,
    [settled.map(({ swapId }) => swapId), settled.map(({ depth }) => depth), MAX_SAMPLES],
  )
}

type SwapTimes = {
  originChain: number
  destinationChain: number
  depth: number
  durationsMs: readonly number[]
}

export async function readSwapTimes(db: Db): Promise<SwapTimes[]> {
  const { rows } = await db.query<{
    origin_chain: string
    destination_chain: string
    depth: number
    durations_ms: number[]
  }>('select origin_chain, destination_chain, depth, durations_ms from swap_times')
  return rows.map((row) => ({
    originChain: Number(row.origin_chain),
    destinationChain: Number(row.destination_chain),
    depth: row.depth,
    durationsMs: row.durations_ms,
  }))
}
