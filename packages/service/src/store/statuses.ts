import type { FailureCode, RefundReason, StatusReply } from '@geoswap/wire'
import { publicStatus, publicSubstatus, type SwapState } from '../model/lifecycle.ts'
import { failureMessages } from '../model/outcome.ts'
import type { Db } from './db.ts'

type Row = {
  id: string
  account_id: string
  state: SwapState
  origin_chain: string
  destination_chain: string
  input_token: string
  input_amount: string
  quoted_output: string
  min_output: string
  delivered: string | null
  origin_tx_hash: string | null
  delivery_tx_hash: string | null
  refund_tx_hash: string | null
  credited: boolean
  failure_code: FailureCode | null
  refund_reason: RefundReason | null
  timeline: StatusReply['timeline']
  created_at: Date
  updated_at: Date
}

export type StatusKey = { accountId: string; swapId: string }

/** What each caller may see of each swap, in the order asked; undefined when it is not theirs or not there. */
export async function readStatuses(db: Db, keys: readonly StatusKey[]): Promise<(StatusReply | undefined)[]> {
  const { rows } = await db.query<Row>({
    name: 'read-statuses',
    text: `
    select s.id, s.account_id, s.state, s.origin_chain, s.destination_chain, s.input_token, s.input_amount,
           o.quoted_output, o.min_output, s.delivered, s.origin_tx_hash, s.delivery_tx_hash, s.refund_tx_hash,
           s.credited, s.failure_code, s.refund_reason, s.timeline, s.created_at, s.updated_at
      from unnest($1::text[], $2::text[]) as k (swap_id, account_id)
      join swaps s on s.id = k.swap_id and s.account_id = k.account_id
      join ops o on o.id = s.op_id`,
    values: [keys.map((key) => key.swapId), keys.map((key) => key.accountId)],
  })
  const found = new Map(rows.map((row) => [`${row.account_id} ${row.id}`, toStatus(row)]))
  return keys.map((key) => found.get(`${key.accountId} ${key.swapId}`))
}

function toStatus(row: Row): StatusReply {
  return {
    swapId: row.id,
    status: publicStatus(row.state),
    substatus: publicSubstatus(row.state),
    ...(row.origin_tx_hash && { originTxHash: row.origin_tx_hash }),
    ...(row.delivery_tx_hash && { deliveryTxHash: row.delivery_tx_hash }),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    originChain: Number(row.origin_chain),
    destinationChain: Number(row.destination_chain),
    amounts: {
      input: row.input_amount,
      quotedOutput: row.quoted_output,
      minOutput: row.min_output,
      ...(row.delivered && { delivered: row.delivered }),
    },
    timeline: row.timeline,
    ...(row.failure_code && {
      failure: { code: row.failure_code, message: failureMessages[row.failure_code] },
    }),
    ...(row.refund_reason && { refund: toRefund(row, row.refund_reason) }),
  }
}

function toRefund(row: Row, reason: RefundReason): NonNullable<StatusReply['refund']> {
  return {
    reason,
    amount: row.input_amount,
    token: row.input_token,
    ...(row.refund_tx_hash && { txHash: row.refund_tx_hash }),
    ...(row.credited && { credited: true }),
  }
}

/** Which of these swaps have a terminal status. */
export async function findEnded(db: Db, swapIds: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id from swaps where id = any($1) and state in ('settled', 'claiming', 'closed', 'failed', 'refunded')`,
    [swapIds],
  )
  return rows.map((row) => row.id)
}
