import type { StatusReply } from '@geoswap/wire'
import type { Db } from './db.ts'
import {
  changingColumns,
  FIXED_COLUMNS,
  readStatuses,
  type StatusKey,
  type StatusRow,
  toStatus,
} from './statuses.ts'

/** A change of a swap, with the status reply at that time. */
export type SwapEvent = { seq: number; status: StatusReply }
/** The events of a swap after a given one, and the number of its last event. */
export type SwapEvents = { lastSeq: number; ended: boolean; events: SwapEvent[] }

type Row = StatusRow & {
  account_id: string
  last_seq: number
  ended: boolean
  seq: number | null
  stages: number
}

/**
 * The events of each key after `after`, in order. Undefined if the swap does not exist or belongs to another account.
 * For an ended swap, the last event is always included, even if the log dropped it, so that callers learn the outcome.
 */
export async function readEvents(
  db: Db,
  keys: readonly (StatusKey & { after: number })[],
): Promise<(SwapEvents | undefined)[]> {
  const { rows } = await db.query<Row>({
    name: 'read-events',
    text: `
    select ${FIXED_COLUMNS}, ${changingColumns('e')}, s.account_id, s.seq as last_seq, e.seq, e.stages,
           swap_status(s.state) <> 'pending' as ended
      from unnest($1::text[], $2::text[], $3::int[]) as k (swap_id, account_id, after)
      join swaps s on s.id = k.swap_id and s.account_id = k.account_id
      join ops o on o.id = s.op_id
      left join swap_events e on e.swap_id = s.id
       and e.seq > case when swap_status(s.state) = 'pending' then k.after else least(k.after, s.seq - 1) end
     order by e.seq`,
    values: [keys.map((key) => key.swapId), keys.map((key) => key.accountId), keys.map((key) => key.after)],
  })
  const found = new Map<string, SwapEvents>()
  for (const row of rows) {
    const name = nameOf({ accountId: row.account_id, swapId: row.id })
    const known = found.get(name) ?? { lastSeq: row.last_seq, ended: row.ended, events: [] }
    found.set(name, known)
    if (row.seq !== null) known.events.push({ seq: row.seq, status: toStatus(asOf(row)) })
  }
  await addDroppedEnds(db, keys, found)
  return keys.map((key) => found.get(nameOf(key)))
}

const nameOf = ({ accountId, swapId }: StatusKey) => `${accountId} ${swapId}`

/** The current row equals the status of the last event. */
async function addDroppedEnds(
  db: Db,
  keys: readonly StatusKey[],
  found: ReadonlyMap<string, SwapEvents>,
): Promise<void> {
  const lost = keys.flatMap((key) => {
    const swap = found.get(nameOf(key))
    return swap?.ended && swap.events.at(-1)?.seq !== swap.lastSeq ? [{ key, swap }] : []
  })
  if (lost.length === 0) return
  const statuses = await readStatuses(
    db,
    lost.map(({ key }) => key),
  )
  for (const [index, { swap }] of lost.entries()) {
    const status = statuses[index]
    if (status) swap.events.push({ seq: swap.lastSeq, status })
  }
}

/** The row as of its first `stages` stages. */
export function asOf<R extends StatusRow & { stages: number }>(row: R): R {
  return { ...row, timeline: row.timeline.slice(0, row.stages) }
}

/** The swaps that changed since the known event. */
export async function findMoved(
  db: Db,
  known: readonly { swapId: string; seq: number }[],
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>({
    name: 'find-moved',
    text: `select s.id from unnest($1::text[], $2::int[]) as k (swap_id, seq)
             join swaps s on s.id = k.swap_id and s.seq > k.seq`,
    values: [known.map(({ swapId }) => swapId), known.map(({ seq }) => seq)],
  })
  return rows.map(({ id }) => id)
}
