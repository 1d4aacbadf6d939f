import type { TerminalStatus } from '@geoswap/wire'
import { deliverableStates, paidStates, refundDueStates, settledStates } from '../swap/lifecycle.ts'
import { type Bucket, NO_SWAPS } from '../swap/series.ts'
import type { Db } from './db.ts'
import { PAY_AMOUNT } from './op-columns.ts'
import { IS_OPEN, listOf } from './sql.ts'

// Figures for operators. Each query reads a few pages even with a million ended swaps: open swaps have a partial index,
// and recently ended ones are found by the times of the event log.

type OpenSwaps = { state: string; count: number; seconds: number }

/** Open swaps by state, with the time since the oldest last change. */
export async function readOpenSwaps(db: Db): Promise<OpenSwaps[]> {
  const { rows } = await db.query<OpenSwaps>(
    `select state, count(*)::int as count,
            extract(epoch from clock_timestamp() - min(updated_at))::float8 as seconds
       from swaps where ${IS_OPEN} group by 1`,
  )
  return rows
}

/**
 * The used share of the time from delivery to refund deadline, for the swap with the earliest deadline. After it anyone
 * can refund the input of the delivered swap. 0 if no swap waits for a claim.
 */
export async function readClaimMarginUsed(db: Db): Promise<number> {
  const { rows } = await db.query<{ used: number }>(
    `select ((extract(epoch from clock_timestamp()) - d.seconds)
             / greatest(first.refund_deadline - d.seconds, 1))::float8 as used
       from (select s.timeline, s.updated_at, o.refund_deadline
               from swaps s join ops o on o.id = s.op_id
              where s.${IS_OPEN} and s.state in ${listOf(paidStates)}
              order by o.refund_deadline limit 1) as first
      cross join lateral (
        select extract(epoch from coalesce(max((t ->> 'at')::timestamptz), first.updated_at)) as seconds
          from jsonb_array_elements(first.timeline) as t where t ->> 'stage' = 'delivered') as d`,
  )
  return rows[0]?.used ?? 0
}

// now() instead of clock_timestamp(): only a value that is constant in the statement lets the planner skip months and
// pages.
const ENDED_LATELY = `
  select distinct swap_id from swap_events
   where at > now() - interval '1 hour' and swap_status(state) <> 'pending'`

/** Seconds since the server last archived its log, or since its start; undefined if it archives none. */
export async function readArchiveAge(db: Db): Promise<number | undefined> {
  const { rows } = await db.query<{ seconds: number }>(
    `select extract(epoch from clock_timestamp() - coalesce(last_archived_time, pg_postmaster_start_time()))::float8
              as seconds
       from pg_stat_archiver where current_setting('archive_mode') <> 'off'`,
  )
  return rows[0]?.seconds
}

type EndedSwaps = { status: string; reason: string; count: number }

/** Swaps that ended in the last hour. */
export async function readEndedSwaps(db: Db): Promise<EndedSwaps[]> {
  const { rows } = await db.query<EndedSwaps>(
    `select swap_status(s.state) as status, coalesce(s.failure_code, s.refund_reason, '') as reason,
            count(*)::int as count
       from (${ENDED_LATELY}) e join swaps s on s.id = e.swap_id group by 1, 2`,
  )
  return rows
}

type StageTime = { stage: string; quantile: number; seconds: number }

/** Time from acceptance to each stage, over the swaps that ended in the last hour. */
export async function readStageTimes(db: Db): Promise<StageTime[]> {
  const { rows } = await db.query<StageTime>(
    `select t ->> 'stage' as stage, q as quantile,
            percentile_cont(q) within group (
              order by extract(epoch from (t ->> 'at')::timestamptz - s.created_at))::float8 as seconds
       from (${ENDED_LATELY}) e
       join swaps s on s.id = e.swap_id
      cross join jsonb_array_elements(s.timeline) as t
      cross join (values (0.5::float8), (0.95), (0.99)) as quantiles (q)
      group by 1, 2`,
  )
  return rows
}

export type Exposure = { chainId: number; cents: bigint; lostCents: bigint; unclaimedCents: bigint }

/**
 * By origin chain: value delivered against locks that are not final, the lost part of it, and delivered value whose
 * input is not finally claimed.
 */
export async function readExposure(db: Db): Promise<Exposure[]> {
  const { rows } = await db.query<{ chain_id: string; cents: string; lost: string; unclaimed: string }>(
    `select e.chain_id, e.cents, e.unclaimed_cents as unclaimed, coalesce(sum(l.cents), 0) as lost
       from exposure e left join lost_inputs l on l.chain_id = e.chain_id and l.written_off_at is null
      group by e.chain_id`,
  )
  return rows.map(({ chain_id, cents, lost, unclaimed }) => ({
    chainId: Number(chain_id),
    cents: BigInt(cents),
    lostCents: BigInt(lost),
    unclaimedCents: BigInt(unclaimed),
  }))
}

/** The amount that swaps moved of one token on one chain. */
export type Flow = { chainId: number; token: string; amount: bigint }

type FlowRow = { chain_id: string; token: string; amount: string }

const toFlow = (row: FlowRow): Flow => ({
  chainId: Number(row.chain_id),
  token: row.token,
  amount: BigInt(row.amount),
})

/** Inputs of delivered swaps that are still in escrow. */
export async function readToClaim(db: Db): Promise<Flow[]> {
  const { rows } = await db.query<FlowRow>(
    `select origin_chain as chain_id, input_token as token, sum(input_amount) as amount
       from swaps where state in ${listOf(paidStates)} group by 1, 2`,
  )
  return rows.map(toFlow)
}

/** Inputs of all open swaps that are in escrow. */
export async function readInEscrow(db: Db): Promise<Flow[]> {
  const { rows } = await db.query<FlowRow>(
    `select origin_chain as chain_id, input_token as token, sum(input_amount) as amount
       from swaps where state in ${listOf([...deliverableStates, ...paidStates, ...refundDueStates])} group by 1, 2`,
  )
  return rows.map(toFlow)
}

// Uses the times of the event log, so that the cost depends on recent deliveries only. now() as above.
const DELIVERED_LATELY = `s.state in ${listOf(settledStates)} and s.id in (
  select e.swap_id from swap_events e
   where e.at > now() - make_interval(days => $1) and swap_status(e.state) = 'settled')`

/** Payouts of the vaults for swaps delivered in the last days. */
export async function readPaidOut(db: Db, days: number): Promise<Flow[]> {
  const { rows } = await db.query<FlowRow>(
    `select o.destination_chain as chain_id, o.pay_token as token, sum(${PAY_AMOUNT}) as amount
       from swaps s join ops o on o.id = s.op_id
      where ${DELIVERED_LATELY} group by 1, 2`,
    [days],
  )
  return rows.map(toFlow)
}

/** Inputs of those swaps, claimed or still to be claimed. */
export async function readTakenIn(db: Db, days: number): Promise<Flow[]> {
  const { rows } = await db.query<FlowRow>(
    `select s.origin_chain as chain_id, s.input_token as token, sum(s.input_amount) as amount
       from swaps s where ${DELIVERED_LATELY} group by 1, 2`,
    [days],
  )
  return rows.map(toFlow)
}

type SeriesRow = Record<TerminalStatus, number> & {
  at: Date
  cents: string
  quantiles: [p50: number, p95: number, p99: number] | null
}

const COUNTS = Object.keys(NO_SWAPS).map(
  (status) => `count(*) filter (where e.status = '${status}')::int as ${status}`,
)

type Window = { from: Date; bucketSeconds: number }

/**
 * Swaps that ended since `from`, in buckets aligned to the epoch. Uses the times of the event log, so that the cost
 * depends on the window only. A swap ends once: later events of an ended swap do not count.
 */
export async function readSeries(db: Db, { from, bucketSeconds }: Window): Promise<Bucket[]> {
  const { rows } = await db.query<SeriesRow>(
    `with ended as (
       select e.swap_id, e.at, swap_status(e.state) as status
         from swap_events e
        where e.at >= $1 and swap_status(e.state) <> 'pending'
          and not exists (select 1 from swap_events before
                           where before.swap_id = e.swap_id and before.seq < e.seq
                             and swap_status(before.state) <> 'pending')
     )
     select date_bin(make_interval(secs => $2), e.at, 'epoch') as at,
            ${COUNTS.join(', ')},
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

function toBucket({ quantiles, cents, ...row }: SeriesRow): Bucket {
  const times = quantiles && { p50: quantiles[0], p95: quantiles[1], p99: quantiles[2] }
  return { ...row, volumeCents: BigInt(cents), ...times }
}
