import type { QuoteStop, StopScope } from '../swap/stop.ts'
import type { Db } from './db.ts'

type Row = {
  id: string
  why: QuoteStop['why']
  chain_id: string | null
  asset: string | null
  note: string
  raised_by: string
  since: Date
} & (Route | { [Column in keyof Route]: null })

type Route = Record<'from_chain' | 'from_token' | 'to_chain' | 'to_token', string>

const COLUMNS = 'id, why, chain_id, asset, from_chain, from_token, to_chain, to_token, note, raised_by, since'

export async function findActiveStops(db: Db): Promise<QuoteStop[]> {
  const { rows } = await db.query<Row>(
    `select ${COLUMNS} from quote_stops where resumed_at is null order by id`,
  )
  return rows.map(toStop)
}

type NewStop = Pick<QuoteStop, 'why' | 'scope' | 'note' | 'by'>

/** Raises a stop, or returns the active one of the same kind and scope. */
export async function raiseStop(db: Db, stop: NewStop): Promise<{ id: string; isNew: boolean }> {
  const scope = valuesOf(stop.scope)
  const { rows } = await db.query<{ id: string; is_new: boolean }>(
    `with same as (
       select id from quote_stops
        where resumed_at is null and why = $1
          and (chain_id, asset, from_chain, from_token, to_chain, to_token)
              is not distinct from ($4::bigint, $5::text, $6::bigint, $7::text, $8::bigint, $9::text)
     ), added as (
       insert into quote_stops (why, note, raised_by, chain_id, asset, from_chain, from_token, to_chain, to_token)
       select $1, $2, $3, $4, $5, $6, $7, $8, $9 where not exists (select 1 from same)
       returning id
     )
     select id, true as is_new from added union all select id, false from same`,
    [stop.why, stop.note, stop.by, ...scope],
  )
  const row = rows[0]
  if (!row) throw new Error('The stop was not stored')
  return { id: row.id, isNew: row.is_new }
}

type Resume = { id: string; by: string; note: string }

/** Ends a stop. False if it does not exist or has ended. */
export async function resumeStop(db: Db, { id, by, note }: Resume): Promise<boolean> {
  const { rowCount } = await db.query(
    `update quote_stops set resumed_at = clock_timestamp(), resumed_by = $2, resumed_note = $3
      where id = $1 and resumed_at is null`,
    [id, by, note],
  )
  return rowCount === 1
}

/** Ends drift stops of an asset on a chain whose note starts with `note`. Returns their ids. */
export async function endDriftStops(
  db: Db,
  { chainId, asset, note }: { chainId: number; asset: string; note: string },
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `update quote_stops set resumed_at = clock_timestamp(), resumed_by = 'reconciliation',
            resumed_note = 'the missing amount is back'
      where why = 'drift' and resumed_at is null and chain_id = $1 and asset = $2 and starts_with(note, $3)
      returning id`,
    [chainId, asset, note],
  )
  return rows.map(({ id }) => id)
}

function valuesOf(scope: StopScope): (string | number | null)[] {
  if (scope.kind === 'route') {
    const { from, to } = scope
    return [null, null, from.chainId, from.token, to.chainId, to.token]
  }
  return [scope.chainId ?? null, scope.asset ?? null, null, null, null, null]
}

function toStop(row: Row): QuoteStop {
  return {
    id: row.id,
    why: row.why,
    scope: toScope(row),
    note: row.note,
    by: row.raised_by,
    since: row.since,
  }
}

function toScope(row: Row): StopScope {
  if (row.from_chain !== null) {
    const from = { chainId: Number(row.from_chain), token: row.from_token }
    return { kind: 'route', from, to: { chainId: Number(row.to_chain), token: row.to_token } }
  }
  return {
    kind: 'part',
    chainId: row.chain_id !== null ? Number(row.chain_id) : undefined,
    asset: row.asset ?? undefined,
  }
}
