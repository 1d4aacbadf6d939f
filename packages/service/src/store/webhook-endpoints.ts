import type { Db } from './db.ts'

/** Secrets are sealed. */
export type Endpoint = {
  id: string
  accountId: string
  url: string
  secret: string
  /** Signs as well during a rotation. */
  previousSecret: string | undefined
  isDisabled: boolean
}

type Row = {
  id: string
  account_id: string
  url: string
  secret: string
  previous_secret: string | null
  disabled_at: Date | null
}

export async function insertEndpoint(
  db: Db,
  endpoint: Pick<Endpoint, 'id' | 'accountId' | 'url' | 'secret'>,
): Promise<void> {
  await db.query('insert into webhook_endpoints (id, account_id, url, secret) values ($1, $2, $3, $4)', [
    endpoint.id,
    endpoint.accountId,
    endpoint.url,
    endpoint.secret,
  ])
}

const SELECT = `
  select w.id, w.account_id, w.url, w.secret, w.disabled_at,
         case when w.previous_until > clock_timestamp() then w.previous_secret end as previous_secret
    from webhook_endpoints w`

export async function findEndpoint(db: Db, id: string): Promise<Endpoint | undefined> {
  const { rows } = await db.query<Row>(`${SELECT} where w.id = $1`, [id])
  return rows[0] && toEndpoint(rows[0])
}

/** Whether events of the account are posted anywhere. */
export async function hasActiveEndpoint(db: Db, accountId: string): Promise<boolean> {
  const { rowCount } = await db.query(
    'select 1 from webhook_endpoints where account_id = $1 and disabled_at is null limit 1',
    [accountId],
  )
  return rowCount === 1
}

export async function findEndpoints(db: Db): Promise<Endpoint[]> {
  const { rows } = await db.query<Row>(SELECT)
  return rows.map(toEndpoint)
}

/** Endpoints with due deliveries that are not in `busy`. */
export async function findDueEndpoints(db: Db, { busy, limit }: { busy: readonly string[]; limit: number }) {
  const { rows } = await db.query<Row>(
    `${SELECT}
      where w.disabled_at is null and w.id <> all($1) and exists (
        select 1 from webhook_deliveries d where d.endpoint_id = w.id and d.next_at <= statement_timestamp())
      order by random() limit $2`,
    [busy, limit],
  )
  return rows.map(toEndpoint)
}

/** Deletes an endpoint with its pending deliveries. */
export async function removeEndpoint(db: Db, id: string): Promise<void> {
  await db.query('delete from webhook_endpoints where id = $1', [id])
}

/** Sets a new secret. The previous one also signs for `hours`. */
export async function rotateSecret(
  db: Db,
  { id, secret, hours }: { id: string; secret: string; hours: number },
) {
  await db.query(
    `update webhook_endpoints
        set previous_secret = secret, previous_until = clock_timestamp() + make_interval(hours => $3), secret = $2
      where id = $1`,
    [id, secret, hours],
  )
}

/** Replaces the sealed secrets. Does nothing if they were rotated in the meantime. */
export async function replaceSeals(
  db: Db,
  { before, after }: { before: Endpoint; after: Endpoint },
): Promise<void> {
  await db.query(
    'update webhook_endpoints set secret = $3, previous_secret = $4 where id = $1 and secret = $2',
    [before.id, before.secret, after.secret, after.previousSecret],
  )
}

/** Resumes deliveries. Given-up events need a replay. */
export async function enableEndpoint(db: Db, id: string): Promise<void> {
  await db.query(
    `update webhook_endpoints
        set disabled_at = null, disabled_because = null, failing_since = null, last_failure = null
      where id = $1`,
    [id],
  )
}

// Slightly less than all attempts for one event take together.
const MAX_FAILING_HOURS = 72
export const FAILED_LONG = `it accepted nothing for ${MAX_FAILING_HOURS} hours`

type Health = { id: string; isFailing: boolean; failure: string | undefined }

/** Records whether the endpoint accepts events. Returns whether it has been failing for too long. */
export async function recordHealth(
  db: Db,
  { id, isFailing, failure }: Health,
): Promise<{ hasFailedLong: boolean }> {
  const { rows } = await db.query<{ long: boolean | null }>(
    `update webhook_endpoints
        set failing_since = case when $2 then coalesce(failing_since, clock_timestamp()) end,
            last_failure = coalesce($3, last_failure)
      where id = $1
  returning failing_since < clock_timestamp() - make_interval(hours => $4) as long`,
    [id, isFailing, failure, MAX_FAILING_HOURS],
  )
  return { hasFailedLong: rows[0]?.long === true }
}

/** Disables an endpoint and gives up its pending deliveries. */
export async function disableEndpoint(
  db: Db,
  { id, because }: { id: string; because: string },
): Promise<void> {
  await db.query(
    'update webhook_endpoints set disabled_at = clock_timestamp(), disabled_because = $2 where id = $1',
    [id, because],
  )
  await db.query(
    'update webhook_deliveries set next_at = null where endpoint_id = $1 and next_at is not null',
    [id],
  )
}

/** Failing endpoints with more than `max` pending events. */
export async function findOverloaded(db: Db, max: number): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select w.id from webhook_endpoints w
       join webhook_deliveries d on d.endpoint_id = w.id and d.next_at is not null
      where w.disabled_at is null and w.failing_since is not null
      group by 1 having count(*) > $1`,
    [max],
  )
  return rows.map(({ id }) => id)
}

export type ListedEndpoint = {
  id: string
  accountId: string
  accountName: string
  url: string
  createdAt: Date
  failingSince: Date | null
  lastFailure: string | null
  disabledAt: Date | null
  disabledBecause: string | null
  waiting: number
  givenUp: number
}

export async function listEndpoints(db: Db): Promise<ListedEndpoint[]> {
  const { rows } = await db.query<ListedEndpoint>(
    `select w.id, a.id as "accountId", a.name as "accountName", w.url, w.created_at as "createdAt",
            w.failing_since as "failingSince", w.last_failure as "lastFailure", w.disabled_at as "disabledAt",
            w.disabled_because as "disabledBecause",
            count(d.position) filter (where d.next_at is not null)::int as waiting,
            count(d.position) filter (where d.next_at is null)::int as "givenUp"
       from webhook_endpoints w
       join accounts a on a.id = w.account_id
       left join webhook_deliveries d on d.endpoint_id = w.id
      group by w.id, a.id order by w.created_at, w.id`,
  )
  return rows
}

/** For metrics: pending and given-up deliveries. */
export async function countWaiting(db: Db): Promise<{ waiting: number; givenUp: number } | undefined> {
  const { rows } = await db.query<{ waiting: number; givenUp: number }>(
    `select count(next_at)::int as waiting, (count(*) - count(next_at))::int as "givenUp" from webhook_deliveries`,
  )
  return rows[0]
}

/** For metrics: endpoints by health. */
export async function countEndpoints(
  db: Db,
): Promise<Record<'active' | 'failing' | 'disabled', number> | undefined> {
  const { rows } = await db.query<Record<'active' | 'failing' | 'disabled', number>>(
    `select count(*) filter (where disabled_at is null and failing_since is null)::int as active,
            count(*) filter (where disabled_at is null and failing_since is not null)::int as failing,
            count(disabled_at)::int as disabled
       from webhook_endpoints`,
  )
  return rows[0]
}

function toEndpoint(row: Row): Endpoint {
  return {
    id: row.id,
    accountId: row.account_id,
    url: row.url,
    secret: row.secret,
    previousSecret: row.previous_secret ?? undefined,
    isDisabled: row.disabled_at !== null,
  }
}
