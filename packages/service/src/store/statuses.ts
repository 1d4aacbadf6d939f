import type {
  FailureCode,
  InputMethod,
  RefundReason,
  Speed,
  StatusReply,
  Waiting,
  WaitingReason,
} from '@geoswap/wire'
import { largest } from '../swap/amount.ts'
import { routeCaip } from '../swap/catalog.ts'
import { type DepositFacts, nextOf } from '../swap/deposit.ts'
import {
  failureMessages,
  owedStates,
  publicStatus,
  publicSubstatus,
  reportedStates,
  type SwapState,
  settledStates,
  unpaidEndStates,
} from '../swap/lifecycle.ts'
import { isPayment } from '../swap/swap.ts'
import { isSent } from '../ways/registry.ts'
import type { Db } from './db.ts'
import { listOf } from './sql.ts'

/** The fields of a status. Rows of the event log have the same fields, as of their time. */
export type StatusRow = {
  id: string
  state: SwapState
  origin_chain: string
  destination_chain: string
  input_token: string
  output_token: string
  input_amount: string
  quoted_output: string
  min_output: string
  lowered_output: string | null
  fast_output: string
  risk_premium: string
  is_paid_fast: boolean
  is_slowed: boolean
  delivered: string | null
  origin_tx_hash: string | null
  delivery_tx_hash: string | null
  refund_tx_hash: string | null
  credited: boolean
  failure_code: FailureCode | null
  refund_reason: RefundReason | null
  method: InputMethod | null
  external_id: string | null
  deposit_address: string | null
  deposit_until: Date
  deposit: DepositFacts | null
  waiting: Waiting | null
  timeline: StatusReply['timeline']
  created_at: Date
  updated_at: Date
}

/** Columns from `swaps s` and `ops o`, as they are now: events tell the speed and price that were last decided. */
export const FIXED_COLUMNS = `s.id, s.origin_chain, s.destination_chain, s.input_token, s.input_amount, s.timeline,
           s.created_at, o.output_token, o.quoted_output, s.lowered_output, o.min_output, o.method, o.deposit_address,
           o.expires_at as deposit_until, o.external_id, o.fast_output, o.risk_premium, s.is_paid_fast,
           s.waiting is not null as is_slowed`

/** Changing columns, from `swaps s` or `swap_events e`. That a swap waits is no event. */
export const changingColumns = (table: 's' | 'e') =>
  ['state', 'delivered', 'origin_tx_hash', 'delivery_tx_hash', 'refund_tx_hash', 'credited']
    .concat('failure_code', 'refund_reason', 'deposit', 'updated_at')
    .map((column) => `${table}.${column}`)
    .concat(table === 's' ? 's.waiting' : 'null::jsonb as waiting')
    .join(', ')

export type StatusKey = { accountId: string; swapId: string }
type Row = StatusRow & { account_id: string }

/**
 * The status of each swap for its account, or for one wallet of it as `account:wallet`, in order. Undefined if the swap
 * does not exist or belongs to another.
 */
export async function readStatuses(db: Db, keys: readonly StatusKey[]): Promise<(StatusReply | undefined)[]> {
  const { rows } = await db.query<Row>(
    `
    select ${FIXED_COLUMNS}, ${changingColumns('s')}, k.account_id
      from unnest($1::text[], $2::text[]) as k (swap_id, account_id)
      join swaps s on s.id = k.swap_id and k.account_id in (s.account_id, s.account_id || ':' || s.wallet)
      join ops o on o.id = s.op_id`,
    [keys.map((key) => key.swapId), keys.map((key) => key.accountId)],
  )
  const found = new Map(rows.map((row) => [`${row.account_id} ${row.id}`, toStatus(row)]))
  return keys.map((key) => found.get(`${key.accountId} ${key.swapId}`))
}

export function toStatus(row: StatusRow): StatusReply {
  const originChain = Number(row.origin_chain)
  const destinationChain = Number(row.destination_chain)
  const { input_token: inputToken, output_token: outputToken } = row
  const speed = speedOf(row)
  return {
    swapId: row.id,
    status: publicStatus(row.state),
    substatus: publicSubstatus(row.state),
    externalId: row.external_id ?? undefined,
    originTxHash: row.origin_tx_hash ?? undefined,
    deliveryTxHash: row.delivery_tx_hash ?? undefined,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    originChain,
    destinationChain,
    caip: routeCaip({ originChain, destinationChain, inputToken, outputToken }),
    amounts: {
      input: row.input_amount,
      quotedOutput: row.fast_output === '0' ? row.quoted_output : row.fast_output,
      minOutput: row.min_output,
      delivered: row.delivered ?? undefined,
      ...toRepriced(row, speed),
      riskPremium: speed && toPremium(row, speed),
    },
    timeline: row.timeline,
    ...(row.failure_code && {
      failure: { code: row.failure_code, message: failureMessages[row.failure_code] },
    }),
    ...(row.refund_reason && { refund: toRefund(row, row.refund_reason) }),
    ...(row.waiting && WAITING_IN[row.waiting.reason] === row.state && { waiting: row.waiting }),
    ...(row.method && { method: row.method }),
    speed,
    ...(hasDeposit(row) && { deposit: toDeposit(row) }),
  }
}

/** Of a swap that was quoted as fast: `final` once it waits until its input is final, or was paid then. */
function speedOf({ fast_output, is_paid_fast, is_slowed, state, delivered }: StatusRow): Speed | undefined {
  if (fast_output === '0' || unpaidEndStates.includes(state)) return undefined
  const isPaid = owedStates.includes(state) || settledStates.includes(state)
  // A database that was restored does not know how it was paid; the chain tells the amount.
  const isPaidFast = is_paid_fast || delivered === fast_output
  return isPaidFast || !(is_slowed || isPaid) ? 'fast' : 'final'
}

function toPremium(row: StatusRow, speed: Speed): NonNullable<StatusReply['amounts']['riskPremium']> {
  const full = row.delivered ?? row.lowered_output ?? row.quoted_output
  const isReturned = speed === 'final'
  return { amount: row.risk_premium, returned: isReturned, output: isReturned ? full : undefined }
}

/** Less than quoted: the market moved before the lock, or the price of a pool before the delivery. */
function toRepriced(row: StatusRow, speed: Speed | undefined) {
  const quoted = speed === 'fast' ? row.fast_output : row.quoted_output
  const output = row.delivered ?? loweredOf(row, speed)
  if (output === null || BigInt(output) >= BigInt(quoted)) return {}
  return { repriced: { output, reason: 'PRICE_MOVED' as const } }
}

/** Before a fast swap is paid, its lowered output is the full one. */
function loweredOf(row: StatusRow, speed: Speed | undefined): string | null {
  const { lowered_output: lowered, quoted_output: quoted } = row
  if (lowered === null || speed !== 'fast' || row.is_paid_fast) return lowered
  const fastOutput = (BigInt(row.fast_output) * BigInt(lowered)) / BigInt(quoted)
  return largest(fastOutput, BigInt(row.min_output)).toString()
}

const WAITING_IN: Record<WaitingReason, SwapState> = {
  lateLock: 'locking',
  lateDelivery: 'delivering',
  finality: 'locked',
}

type Awaited = StatusRow & { deposit_address: string }

/** Of a payment there is nothing to tell until something was returned. */
const hasDeposit = (row: StatusRow): row is Awaited => {
  const { method, deposit_address: address, deposit } = row
  if (method === null || address === null) return false
  return isSent({ method }) || (isPayment({ method }) && deposit?.returned !== undefined)
}

function toDeposit(row: Awaited): NonNullable<StatusReply['deposit']> {
  const { state, method, deposit_until: until, deposit_address: address } = row
  const deposit = row.deposit ?? {}
  if (method !== null && isPayment({ method })) return { address, returned: deposit.returned }
  const next = nextOf({ state, input: BigInt(row.input_amount), inputToken: row.input_token, until, deposit })
  return { address, until: until.toISOString(), ...deposit, ...(next && { next }) }
}

function toRefund(row: StatusRow, reason: RefundReason): NonNullable<StatusReply['refund']> {
  return {
    reason,
    amount: row.input_amount,
    token: row.input_token,
    txHash: row.refund_tx_hash ?? undefined,
    credited: row.credited ? true : undefined,
  }
}

/** The swaps among these that have a terminal status. */
export async function findEnded(db: Db, swapIds: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id from swaps where id = any($1) and state in ${listOf(reportedStates)}`,
    [swapIds],
  )
  return rows.map((row) => row.id)
}
