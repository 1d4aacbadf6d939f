import { MAX_SAMPLES } from '../swap/eta.ts'
import type { Db } from './db.ts'

type EndedAttempt = {
  role: string
  chainId: number
  txHash: string
  replacement: number
  createdAt: Date
  finalAt: Date | null
}
export type EndedSwap = {
  id: string
  status: string
  reason: string | null
  originChain: number
  destinationChain: number
  createdAt: Date
  timeline: { stage: string; at: string; chainId?: number; txHash?: string }[]
  attempts: EndedAttempt[]
}

export async function findLastPosition(db: Db): Promise<string> {
  const { rows } = await db.query<{ position: string }>(
    'select coalesce(max(position), 0) as position from swap_events where position is not null',
  )
  return rows[0]?.position ?? '0'
}

type Row = Omit<EndedSwap, 'originChain' | 'destinationChain' | 'attempts'> & {
  position: string
  originChain: string
  destinationChain: string
  attempts: (Omit<EndedAttempt, 'createdAt' | 'finalAt'> & { createdAt: string; finalAt: string | null })[]
}

/** Swaps that ended after this position of the event log, oldest first, with their attempts. */
export async function findEndedAfter(
  db: Db,
  { position, limit }: { position: string; limit: number },
): Promise<{ position: string; swaps: EndedSwap[] }> {
  const { rows } = await db.query<Row>(
    `select e.position, s.id, swap_status(e.state) as status, coalesce(s.failure_code, s.refund_reason) as reason,
            s.origin_chain as "originChain", s.destination_chain as "destinationChain",
            s.created_at as "createdAt", s.timeline,
            coalesce((select jsonb_agg(jsonb_build_object('role', a.role, 'chainId', a.chain_id, 'txHash', a.tx_hash,
                        'replacement', a.replacement, 'createdAt', a.created_at, 'finalAt', a.final_at) order by a.id)
                        from attempt_swaps l join tx_attempts a on a.id = l.attempt_id
                       where l.swap_id = s.id), '[]') as attempts
       from swap_events e join swaps s on s.id = e.swap_id
      where e.position > $1 and swap_status(e.state) <> 'pending'
      order by e.position limit $2`,
    [position, limit],
  )
  return { position: rows.at(-1)?.position ?? position, swaps: rows.map(toEnded) }
}

function toEnded({ position: _position, originChain, destinationChain, attempts, ...row }: Row): EndedSwap {
  return {
    ...row,
    originChain: Number(originChain),
    destinationChain: Number(destinationChain),
    attempts: attempts.map(({ createdAt, finalAt, ...attempt }) => ({
      ...attempt,
      createdAt: new Date(createdAt),
      finalAt: finalAt === null ? null : new Date(finalAt),
    })),
  }
}

/** A settled swap, and the depth at which its lock was accepted. */
export type SettledSwap = { swapId: string; depth: number }

/**
 * Adds the times from submission to `settled` (`delivered` in timelines), and keeps the last hundred per route and
 * depth. Returns what it added.
 */
export async function addSwapTimes(db: Db, settled: readonly SettledSwap[]): Promise<SwapTimes[]> {
  if (settled.length === 0) return []
  const { rows } = await db.query<SwapTimesRow>(
    `with fresh as (
     select s.origin_chain, s.destination_chain, m.depth,
            (array_agg(least(extract(epoch from e.at - s.created_at) * 1000, 2147483647)::int order by e.at desc))[1:$3]
              as durations_ms
       from unnest($1::text[], $2::int[]) as m (swap_id, depth)
       join swaps s on s.id = m.swap_id
      cross join lateral (select (l ->> 'at')::timestamptz as at from jsonb_array_elements(s.timeline) as l
                           where l ->> 'stage' = 'delivered' limit 1) as e
      group by 1, 2, 3),
     kept as (
     insert into swap_times as t (origin_chain, destination_chain, depth, durations_ms)
     select origin_chain, destination_chain, depth, durations_ms from fresh
         on conflict (origin_chain, destination_chain, depth) do update
        set durations_ms = (excluded.durations_ms || t.durations_ms)[1:$3])
     select origin_chain, destination_chain, depth, durations_ms from fresh`,
    [settled.map(({ swapId }) => swapId), settled.map(({ depth }) => depth), MAX_SAMPLES],
  )
  return rows.map(toSwapTimes)
}

type SwapTimes = {
  originChain: number
  destinationChain: number
  depth: number
  durationsMs: readonly number[]
}

type SwapTimesRow = {
  origin_chain: string
  destination_chain: string
  depth: number
  durations_ms: number[]
}

const toSwapTimes = (row: SwapTimesRow): SwapTimes => ({
  originChain: Number(row.origin_chain),
  destinationChain: Number(row.destination_chain),
  depth: row.depth,
  durationsMs: row.durations_ms,
})

export async function readSwapTimes(db: Db): Promise<SwapTimes[]> {
  const { rows } = await db.query<SwapTimesRow>(
    'select origin_chain, destination_chain, depth, durations_ms from swap_times',
  )
  return rows.map(toSwapTimes)
}
