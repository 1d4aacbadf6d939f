import type { Pool } from 'pg'
import type { ChainView } from '../chains/view.ts'
import { awaitingStates, deliverableStates, unlockedStates } from '../swap/lifecycle.ts'
import type { Db } from './db.ts'
import { type Lease, whileHeld } from './lanes.ts'
import { listOf, toMs } from './sql.ts'

const TAG = '$bigint'

/** Serializes plain data that may contain bigints. */
export function toPlainJson(value: unknown): string {
  return JSON.stringify(value, (_key, each) => (typeof each === 'bigint' ? { [TAG]: each.toString() } : each))
}

/** Restores data from parsed JSON, as a database returns it. */
export function fromPlain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fromPlain)
  if (value === null || typeof value !== 'object') return value
  const entries = Object.entries(value)
  const [first] = entries
  if (entries.length === 1 && first?.[0] === TAG) return BigInt(String(first[1]))
  return Object.fromEntries(entries.map(([key, each]) => [key, fromPlain(each)]))
}

/** Stores the view of the chain's watcher. Returns the new version; undefined if another worker holds the lane. */
export async function writeChainView(
  pool: Pool,
  lease: Lease,
  chainId: number,
  view: ChainView,
): Promise<bigint | undefined> {
  const json = toPlainJson(view)
  return whileHeld(pool, lease, async (db) => {
    const { rows } = await db.query<{ version: string }>(
      `with written as (
         insert into chain_views (chain_id, view, version, updated_at)
         values ($1, $2, nextval('chain_view_versions'), clock_timestamp())
             on conflict (chain_id) do update
            set view = excluded.view, version = excluded.version, updated_at = excluded.updated_at
      returning version
       )
       select version, pg_notify('chain_view', $1::text) from written`,
      [String(chainId), json],
    )
    return BigInt(rows[0]?.version ?? 0)
  })
}

export type StoredView = { chainId: number; view: ChainView; version: bigint; ageMs: number }

/** The views newer than the known versions, with their age by the database's clock. */
export async function readChainViews(db: Db, known: ReadonlyMap<number, bigint>): Promise<StoredView[]> {
  const { rows } = await db.query<{ chain_id: string; view: unknown; version: string; age_ms: number }>(
    `select v.chain_id, v.view, v.version,
            extract(epoch from clock_timestamp() - v.updated_at)::float8 * 1000 as age_ms
       from unnest($1::bigint[], $2::bigint[]) as asked (chain_id, version)
       join chain_views v on v.chain_id = asked.chain_id and v.version > asked.version`,
    [[...known.keys()], [...known.values()].map(String)],
  )
  return rows.map((row) => ({
    chainId: Number(row.chain_id),
    view: fromPlain(row.view) as ChainView,
    version: BigInt(row.version),
    ageMs: Math.max(0, row.age_ms),
  }))
}

// A swap that waited longer is blocked by something other than the next block.
const PATIENCE_SECONDS = 60

/** `at` and `acceptedAt` are milliseconds by the clock of the database. */
export type Awaited = {
  /** A swap waits for the next blocks of this chain. */
  isAwaited: boolean
  /** A swap waits to be locked, on any chain. Feeds of any chain may price it. */
  isPricing: boolean
  /** When the newest accepted swap changed, on any chain; undefined without one. */
  acceptedAt: number | undefined
  /** A time before this was answered: what is read from a chain afterwards is newer. */
  at: number
}

/** The input is still to come, or to be locked. */
const BEFORE_LOCK = [...awaitingStates, ...unlockedStates]

export async function readAwaited(db: Db, chainId: number): Promise<Awaited> {
  const { rows } = await db.query<{ awaited: boolean; accepted_at: number | null; at: number }>(
    `select exists (
       select 1 from swaps
        where state in ${listOf([...BEFORE_LOCK, ...deliverableStates])}
          and (origin_chain = $1 and state in ${listOf(BEFORE_LOCK)}
               or destination_chain = $1 and state in ${listOf(deliverableStates)})
          and updated_at > clock_timestamp() - make_interval(secs => $2)) as awaited,
       (select ${toMs('max(updated_at)')} from swaps where state = 'accepted') as accepted_at,
       ${toMs('clock_timestamp()')} as at`,
    [chainId, PATIENCE_SECONDS],
  )
  const [row] = rows
  if (!row) throw new Error('The database did not say who waits')
  const { awaited: isAwaited, accepted_at: acceptedAt, at } = row
  const isPricing = acceptedAt !== null && at - acceptedAt < PATIENCE_SECONDS * 1_000
  return { isAwaited, isPricing, acceptedAt: acceptedAt ?? undefined, at }
}
