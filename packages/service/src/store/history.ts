import type { SwapRecord, SwapStatus } from '@geoswap/wire'
import { recordCaip } from '../swap/catalog.ts'
import type { Db } from './db.ts'
import { changingColumns, FIXED_COLUMNS, type StatusRow, toStatus } from './statuses.ts'

/** The cursor of a page: the next page starts below it. */
export type HistoryCursor = { createdAt: string; swapId: string }

export type HistoryFilter = {
  accountId: string
  limit: number
  below?: HistoryCursor
  wallet?: string | undefined
  externalId?: string | undefined
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
  add((id) => `h.external_id = ${id}`, filter.externalId)
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

export type ListedSwap = {
  id: string
  state: string
  status: string
  originChain: number
  destinationChain: number
  wallet: string
  inputToken: string
  inputAmount: string
  outputToken: string
  quotedOutput: string
  createdAt: Date
}

export type SwapFilter = { status?: string; wallet?: string; limit: number }

const LISTED = `
  select s.id, s.state, swap_status(s.state) as status, s.origin_chain::float8 as "originChain",
         s.destination_chain::float8 as "destinationChain", s.wallet, s.input_token as "inputToken",
         s.input_amount::text as "inputAmount", o.output_token as "outputToken",
         o.quoted_output::text as "quotedOutput", s.created_at as "createdAt"
    from swaps s join ops o on o.id = s.op_id`

/** Lists swaps, newest first. `status` is a public status or a state. */
export async function listSwaps(db: Db, { status, wallet, limit }: SwapFilter): Promise<ListedSwap[]> {
  const { rows } = await db.query<ListedSwap>(
    `${LISTED}
      where ($1::text is null or s.state = $1 or swap_status(s.state) = $1) and ($2::text is null or s.wallet = $2)
      order by s.created_at desc limit $3`,
    [status, wallet, limit],
  )
  return rows
}

type TracedSwap = ListedSwap & Record<string, unknown>

/** Everything stored about a swap and its op, except the wallet's signature. */
export async function findSwapRecord(db: Db, swapId: string): Promise<TracedSwap | undefined> {
  const { rows } = await db.query<{ record: TracedSwap }>(
    `select to_jsonb(listed) || jsonb_build_object(
              'account', s.account_id, 'version', s.version, 'opHash', o.hash, 'deliveryHash', o.delivery_hash,
              'recipient', o.recipient, 'minOutput', o.min_output::text, 'delivered', s.delivered::text,
              'lockFeeBound', o.lock_fee_bound::text, 'deliveryFeeBound', o.delivery_fee_bound::text,
              'venue', o.venue, 'locker', o.locker, 'position', o.position, 'round', o.round,
              'opDeadline', to_timestamp(o.op_deadline), 'fillDeadline', to_timestamp(o.fill_deadline),
              'refundDeadline', to_timestamp(o.refund_deadline), 'originTxHash', s.origin_tx_hash,
              'deliveryTxHash', s.delivery_tx_hash, 'refundTxHash', s.refund_tx_hash, 'credited', s.credited,
              'originFinal', s.origin_final, 'deliveryFinal', s.delivery_final, 'failureCode', s.failure_code,
              'refundReason', s.refund_reason, 'proof', s.proof, 'logLost', s.log_lost, 'orphan', o.is_orphan,
              'updatedAt', s.updated_at) as record
       from (${LISTED} where s.id = $1) listed, swaps s join ops o on o.id = s.op_id where s.id = $1`,
    [swapId],
  )
  return rows[0]?.record
}

/** One entry of a trace. */
export type TraceLine = { at: Date; what: string; detail: Record<string, unknown> }

/** All changes, signed transactions, attestations and ledger entries of a swap, in order of time. */
export async function traceSwap(db: Db, swapId: string): Promise<TraceLine[]> {
  const { rows } = await db.query<TraceLine>(
    `select at, 'swap ' || state as what, jsonb_strip_nulls(jsonb_build_object(
              'originTxHash', origin_tx_hash, 'deliveryTxHash', delivery_tx_hash, 'refundTxHash', refund_tx_hash,
              'delivered', delivered::text, 'failureCode', failure_code, 'refundReason', refund_reason)) as detail
       from swap_events where swap_id = $1
     union all
     select s.updated_at, 'swap ' || swap_status(s.state), jsonb_strip_nulls(jsonb_build_object(
              'originTxHash', s.origin_tx_hash, 'deliveryTxHash', s.delivery_tx_hash, 'refundTxHash', s.refund_tx_hash,
              'delivered', s.delivered::text, 'failureCode', s.failure_code, 'refundReason', s.refund_reason))
       from swaps s
      where s.id = $1 and swap_status(s.state) <> 'pending'
        and not exists (select 1 from swap_events e where e.swap_id = s.id and e.seq = s.seq)
     union all
     select a.created_at, 'signed ' || a.role, jsonb_build_object(
              'chain', a.chain_id, 'sender', a.sender, 'nonce', a.nonce, 'replacement', a.replacement,
              'txHash', a.tx_hash)
       from attempt_swaps l join tx_attempts a on a.id = l.attempt_id where l.swap_id = $1
     union all
     select a.final_at, 'decided ' || a.role, jsonb_build_object(
              'chain', a.chain_id, 'txHash', a.tx_hash, 'block', a.final_block)
       from attempt_swaps l join tx_attempts a on a.id = l.attempt_id where l.swap_id = $1 and a.final_at is not null
     union all
     select t.created_at, 'attested ' || t.kind, jsonb_build_object(
              'chain', t.chain_id, 'swaps', cardinality(t.swap_ids), 'sent', t.attempt_id is not null)
       from attestations t where t.swap_ids @> array[$1]
     union all
     select m.booked_at, 'booked ' || m.kind, jsonb_build_object(
              'chain', m.chain_id, 'block', m.block, 'source', m.source, 'amount', m.amount::text, 'token', m.token,
              'from', m.debit, 'to', m.credit)
       from ledger_movements m where m.swap_id = $1
     union all
     select s.updated_at, 'proof', s.proof from swaps s where s.id = $1 and s.proof is not null
     order by 1`,
    [swapId],
  )
  return rows
}
