import type { SwapRecord } from '@geoswap/wire'
import type { Pool } from 'pg'
import { type Db, inTransaction } from './db.ts'
import { asOf, findLogStart } from './events.ts'
import { ORDER_COLUMNS, type RecordRow, toRecord } from './history.ts'
import { type Lease, whileHeld } from './lanes.ts'
import { changingColumns, FIXED_COLUMNS } from './statuses.ts'
import { disableEndpoint, FAILED_LONG, recordHealth } from './webhook-endpoints.ts'

const PLACE = `
  with unplaced as (
    select e.swap_id, e.seq, e.at from swap_events e where e.position is null order by e.ticket limit $1
  ), numbered as (
    select swap_id, seq, at, nextval('swap_event_positions') as position from unplaced
  ), placed as (
    update swap_events e set position = n.position from numbered n
     where e.swap_id = n.swap_id and e.seq = n.seq and e.at = n.at
 returning e.swap_id, e.position, e.at
  ), queued as (
    insert into webhook_deliveries (endpoint_id, position)
    select w.id, p.position
      from placed p
      join swaps s on s.id = p.swap_id
      join webhook_endpoints w on w.account_id = s.account_id and w.disabled_at is null and w.created_at <= p.at
  )
  select count(*) as placed from placed`

/**
 * Assigns positions to newly committed events and queues them for all endpoints of their account. The lane's holder
 * alone does this, and the lane cannot change hands before the commit, so a new position is always above
 * all visible ones. Returns the number of events.
 *
 * A separate statement locks the lease: PostgreSQL 18.4 crashes if a statement that writes to a partitioned table locks
 * a row that changed concurrently.
 */
export async function placeEvents(
  pool: Pool,
  { lease, limit }: { lease: Lease; limit: number },
): Promise<number> {
  const placed = await whileHeld(pool, lease, async (db) => {
    const { rows } = await db.query<{ placed: string }>(PLACE, [limit])
    return rows[0]?.placed
  })
  return Number(placed ?? 0)
}

/** An event due at an endpoint. `attempts` includes the current one. */
export type Delivery = { position: string; attempts: number; seq: number; at: Date; swap: SwapRecord }

type Row = RecordRow & { position: string; attempts: number; seq: number; at: Date; stages: number }

type Taking = { lease: Lease; endpointId: string; limit: number; retryMs: number }

const TAKE = `
  with due as (
    select d.endpoint_id, d.position from webhook_deliveries d
     where d.endpoint_id = $1 and d.next_at <= statement_timestamp() order by d.next_at, d.position limit $2
  ), taken as (
    update webhook_deliveries d
       set attempts = d.attempts + 1, next_at = clock_timestamp() + make_interval(secs => $3)
      from due where d.endpoint_id = due.endpoint_id and d.position = due.position
 returning d.position, d.attempts, d.swap_id
  )
  select t.position, t.attempts, e.seq, e.at, e.stages, ${FIXED_COLUMNS}, ${changingColumns('e')}, ${ORDER_COLUMNS}
    from taken t
    join swap_events e on e.position = t.position and e.position is not null
    join swaps s on s.id = e.swap_id
    join ops o on o.id = s.op_id
  union all
  select t.position, t.attempts, s.seq, s.updated_at, jsonb_array_length(s.timeline), ${FIXED_COLUMNS},
         ${changingColumns('s')}, ${ORDER_COLUMNS}
    from taken t
    join swaps s on s.id = t.swap_id
    join ops o on o.id = s.op_id
   order by 1`

/**
 * Takes due deliveries of an endpoint, oldest first. The caller must record their outcomes; if it dies, they are due
 * again after `retryMs`. Returns none if the lease is lost.
 */
export async function takeDue(
  pool: Pool,
  { lease, endpointId, limit, retryMs }: Taking,
): Promise<Delivery[]> {
  const taken = await whileHeld(pool, lease, (db) =>
    db.query<Row>(TAKE, [endpointId, limit, retryMs / 1_000]),
  )
  return (taken?.rows ?? []).map((row) => ({
    position: row.position,
    attempts: row.attempts,
    seq: row.seq,
    at: row.at,
    swap: toRecord(asOf(row)),
  }))
}

type Outcomes = {
  endpointId: string
  delivered: readonly string[]
  /** Without `pauseMs`, the delivery is given up. */
  failed: readonly { position: string; pauseMs?: number }[]
  /** The last failure, if any. */
  failure?: string
  /** The endpoint answered 410 Gone. */
  isGone: boolean
}

/**
 * Records outcomes of deliveries and the health of their endpoint. Returns the reason if the endpoint is now disabled.
 */
export async function recordOutcomes(pool: Pool, outcomes: Outcomes): Promise<string | undefined> {
  const { endpointId, delivered, failed, failure, isGone } = outcomes
  const isFailing = delivered.length === 0
  return inTransaction(pool, async (db) => {
    await db.query('delete from webhook_deliveries where endpoint_id = $1 and position = any($2)', [
      endpointId,
      delivered,
    ])
    await db.query(
      `update webhook_deliveries d set next_at = clock_timestamp() + make_interval(secs => f.pause)
         from unnest($2::bigint[], $3::float8[]) as f (position, pause)
        where d.endpoint_id = $1 and d.position = f.position`,
      [
        endpointId,
        failed.map(({ position }) => position),
        failed.map(({ pauseMs }) => (pauseMs === undefined ? null : pauseMs / 1_000)),
      ],
    )
    const { hasFailedLong } = await recordHealth(db, { id: endpointId, isFailing, failure })
    const because = isGone ? 'it answered 410' : hasFailedLong ? FAILED_LONG : undefined
    if (because) await disableEndpoint(db, { id: endpointId, because })
    return because
  })
}

export type Replayed = { swapId: string } | { since: Date } | { failed: true }

/**
 * Queues events again, or for the first time, as if they had just happened. Returns their number. Includes the end of a
 * swap even if the log dropped it.
 */
export async function replay(db: Db, endpointId: string, what: Replayed): Promise<number> {
  if ('failed' in what) {
    const given = 'endpoint_id = $1 and next_at is null'
    const text = `update webhook_deliveries set next_at = clock_timestamp(), attempts = 0 where ${given}`
    return (await db.query(text, [endpointId])).rowCount ?? 0
  }
  const logged = await queueLogged(db, endpointId, what)
  const start = await findLogStart(db)
  if (!start || ('since' in what && what.since >= start)) return logged
  return logged + (await queueDroppedEnds(db, endpointId, what))
}

type Chosen = Exclude<Replayed, { failed: true }>

const AGAIN = 'on conflict (endpoint_id, position) do update set next_at = clock_timestamp(), attempts = 0'

async function queueLogged(db: Db, endpointId: string, what: Chosen): Promise<number> {
  const [clause, value] = 'swapId' in what ? ['e.swap_id = $2', what.swapId] : ['e.at >= $2', what.since]
  const { rowCount } = await db.query(
    `insert into webhook_deliveries as d (endpoint_id, position)
     select w.id, e.position
       from webhook_endpoints w
       join swaps s on s.account_id = w.account_id
       join swap_events e on e.swap_id = s.id
      where w.id = $1 and ${clause} and e.position is not null
     ${AGAIN}`,
    [endpointId, value],
  )
  return rowCount ?? 0
}

// Above all positions of the log, and stable, so that receivers recognize a replay.
const END_POSITION = `
  (1::bigint << 62) + ('x' || encode(substring(sha256(convert_to(s.id, 'utf8')) for 7), 'hex'))::bit(56)::bigint`

async function queueDroppedEnds(db: Db, endpointId: string, what: Chosen): Promise<number> {
  const [clause, value] = 'swapId' in what ? ['s.id = $2', what.swapId] : ['s.updated_at >= $2', what.since]
  const { rowCount } = await db.query(
    `insert into webhook_deliveries as d (endpoint_id, position, swap_id)
     select w.id, ${END_POSITION}, s.id
       from webhook_endpoints w
       join account_swaps h on h.account_id = w.account_id and h.status <> 'pending'
       join swaps s on s.id = h.swap_id and s.created_at = h.created_at
      where w.id = $1 and ${clause}
        and not exists (select 1 from swap_events e where e.swap_id = s.id and e.seq = s.seq)
     ${AGAIN}`,
    [endpointId, value],
  )
  return rowCount ?? 0
}
