import type { SwapRecord, SwapStatus } from '@geoswap/wire'
import { recordCaip } from '../model/caip.ts'
import type { Db } from './db.ts'
import { changingColumns, FIXED_COLUMNS, type StatusRow, toStatus } from './statuses.ts'

/** The cursor of a page: the next page starts below it. */
export type HistoryCursor = { createdAt: string; swapId: string }

export type HistoryFilter = {
  accountId: string
  limit: number
  below?: HistoryCursor
  wallet?: string
  /** The origin chain of the swaps. */
  chainId?: number
  status?: SwapStatus
  /** `from` is inclusive, `to` exclusive. */
  from?: string
  to?: string
}

/** Requested terms, from `swaps s` and `ops o`. */
export const ORDER_COLUMNS = 's.wallet, o.recipient'
export type RecordRow = StatusRow & { wallet: string; recipient: string }
type Row = RecordRow & { created_exactly: string }

export function toRecord(row: RecordRow): SwapRecord {
  const status = toStatus(row)
  const terms = {
    walletAddress: row.wallet,
    recipient: row.recipient,
    inputToken: row.input_token,
    outputToken: row.output_token,
  }
  return { ...status, ...terms, caip: recordCaip({ ...status, ...terms }) }
}

// The limit is part of the statement text: with a parameter, the planner finds no plan that fits every account and
// plans every read again. Few values keep the number of prepared statements small.
const LIMITS = [21, 51, 101]

/**
 * An account's swaps, newest first, each with its cursor. Each combination of filters is a separate statement, so that
 * the planner can choose the matching index.
 */
export async function readHistory(
  db: Db,
  filter: HistoryFilter,
): Promise<(SwapRecord & { cursor: HistoryCursor })[]> {
  const values: unknown[] = [filter.accountId]
  const limit = LIMITS.find((most) => most >= filter.limit) ?? filter.limit
  const clauses = ['h.account_id = $1']
  const add = (toClause: (...names: string[]) => string, ...added: (string | undefined)[]) => {
    if (added.includes(undefined)) return
    clauses.push(toClause(...added.map((value) => `$${values.push(value)}`)))
  }
  const { below } = filter
  add((at, id) => `(h.created_at, h.swap_id) < (${at}::timestamptz, ${id})`, below?.createdAt, below?.swapId)
  add((wallet) => `h.wallet = ${wallet}`, filter.wallet)
  add((chain) => `s.origin_chain = ${chain}`, filter.chainId?.toString())
  add((status) => `h.status = ${status}`, filter.status)
  add((from) => `h.created_at >= ${from}::timestamptz`, filter.from)
  add((to) => `h.created_at < ${to}::timestamptz`, filter.to)
  // The database's clock has microseconds, a Date only milliseconds.
  const exactly = `to_char(h.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
  const { rows } = await db.query<Row>(
    `select ${FIXED_COLUMNS}, ${changingColumns('s')}, ${ORDER_COLUMNS}, ${exactly} as created_exactly
       from account_swaps h
       join swaps s on s.id = h.swap_id
       join ops o on o.id = s.op_id
      where ${clauses.join(' and ')}
      order by h.created_at desc, h.swap_id desc limit ${limit}`,
    values,
  )
  return rows.slice(0, filter.limit).map((row) => ({
    ...toRecord(row),
    cursor: { createdAt: row.created_exactly, swapId: row.id },
  }))
}
