import type { ChainView } from '../chains/view.ts'
import { awaitingStates, deliverableStates, owedStates, unlockedStates } from '../swap/lifecycle.ts'
import type { Db } from './db.ts'
import { heldBy, type Lease, leaseValues } from './lanes.ts'
import { IS_OPEN, listOf, toMs } from './sql.ts'

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

/**
 * Stores the view of the chain's watcher, and announces its version. Returns it; undefined if another worker holds the
 * lane.
 */
export async function writeChainView(
  db: Db,
  lease: Lease,
  chainId: number,
  view: ChainView,
): Promise<bigint | undefined> {
  const { rows } = await db.query<{ version: string }>(
    `with held as (${heldBy(5)}), written as (
       insert into chain_views (chain_id, view, version, updated_at)
       select $1::bigint, $2::jsonb, nextval('chain_view_versions'), clock_timestamp() from held
           on conflict (chain_id) do update
          set view = excluded.view, version = excluded.version, updated_at = excluded.updated_at
    returning version
     )
     select version, pg_notify('chain_view', $1 || ':' || version) from written`,
    [chainId, toPlainJson(view), ...leaseValues(lease)],
  )
  return rows[0] && BigInt(rows[0].version)
}

/** The chain and version that a notification names; undefined if it has none, as that of an older version. */
export function announcedView(payload: string): { chainId: number; version: bigint } | undefined {
  const [, chainId, version] = /^(\d+):(\d+)$/.exec(payload) ?? []
  if (chainId === undefined || version === undefined) return undefined
  return { chainId: Number(chainId), version: BigInt(version) }
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
  /** A swap still has to do with this chain, or a transaction of ours on it is not final. */
  isOpen: boolean
  /** A swap waits to be locked, on any chain. Feeds of any chain may price it. */
  isPricing: boolean
  /** When the newest swap that is to be priced was accepted, or locked in vain, on any chain. */
  acceptedAt: number | undefined
  /** A time before this was answered: what is read from a chain afterwards is newer. */
  at: number
  /** Keys with a lock or delivery that swaps have waited for too long. */
  stuck: readonly string[]
}

// Several blocks of every chain, and less than a replacement of all fees takes.
const STUCK_SECONDS = 60
const STUCK = `
  select distinct a.sender
    from tx_attempts a
    join attempt_swaps l on l.attempt_id = a.id
    join swaps s on s.id = l.swap_id
   where a.chain_id = c.id and a.final_at is null and a.consumed_block is null
     and a.created_at < clock_timestamp() - make_interval(secs => $3)
     and (l.role = 'lock' and s.state = 'locking'
          or l.role = 'deliver' and s.state = 'delivering' and s.delivered_block is null)`

// A lock without effect is sent again only by prices that are newer than it.
const IS_PRICED_ANEW = `(s.state = 'accepted' or s.state = 'locking' and exists (
  select 1 from attempt_swaps l join tx_attempts a on a.id = l.attempt_id
   where l.swap_id = s.id and l.role = 'lock' and coalesce(a.consumed_block, a.final_block) is not null))`

/** The input is still to come, or to be locked. */
const BEFORE_LOCK = [...awaitingStates, ...unlockedStates]

// In the words of the indexes `swaps_open`, `swaps_locked`, `swaps_undelivered` and `tx_attempts_open`.
const HAS_OPEN = `
  exists (select 1 from swaps where origin_chain = c.id and ${IS_OPEN})
  or exists (select 1 from swaps where destination_chain = c.id and state = 'locked')
  or exists (select 1 from swaps where destination_chain = c.id and delivered_block is null and not delivery_final
                                   and state in ${listOf(owedStates)})
  or exists (select 1 from tx_attempts where chain_id = c.id and final_at is null)`

type Row = {
  chain_id: string
  awaited: boolean
  open: boolean
  accepted_at: number | null
  at: number
  stuck: string[]
}

export async function readAwaited(db: Db, chainIds: readonly number[]): Promise<Map<number, Awaited>> {
  const { rows } = await db.query<Row>(
    `select c.id as chain_id, exists (
       select 1 from swaps
        where state in ${listOf([...BEFORE_LOCK, ...deliverableStates])}
          and (origin_chain = c.id and state in ${listOf(BEFORE_LOCK)}
               or destination_chain = c.id and state in ${listOf(deliverableStates)})
          and updated_at > clock_timestamp() - make_interval(secs => $2)) as awaited,
       (${HAS_OPEN}) as open,
       (select ${toMs('max(updated_at)')} from swaps s where ${IS_PRICED_ANEW}) as accepted_at,
       ${toMs('clock_timestamp()')} as at, array(${STUCK}) as stuck
       from unnest($1::bigint[]) as c (id)`,
    [chainIds, PATIENCE_SECONDS, STUCK_SECONDS],
  )
  return new Map(rows.map(({ chain_id, ...row }) => [Number(chain_id), toAwaited(row)]))
}

function toAwaited({
  awaited: isAwaited,
  open: isOpen,
  accepted_at: acceptedAt,
  at,
  stuck,
}: Omit<Row, 'chain_id'>): Awaited {
  const isPricing = acceptedAt !== null && at - acceptedAt < PATIENCE_SECONDS * 1_000
  return { isAwaited, isOpen, isPricing, acceptedAt: acceptedAt ?? undefined, at, stuck }
}
