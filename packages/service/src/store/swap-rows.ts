import type { Waiting } from '@geoswap/wire'
import type { DepositFacts } from '../swap/deposit.ts'
import type { RefundReason, SwapState } from '../swap/lifecycle.ts'
import type { Op, SignedDelegation, Swap } from '../swap/swap.ts'
import type { Db } from './db.ts'
import { fromOpRow, OP_COLUMNS } from './op-columns.ts'
import { toMs } from './sql.ts'

type Row = {
  swap_id: string
  state: SwapState
  version: number
  is_orphan: boolean
  log_lost: boolean
  signature: string
  last_valid: string | null
  delegation: SignedDelegation | null
  origin_tx_hash: string | null
  delivery_tx_hash: string | null
  origin_final: boolean
  origin_safe: boolean
  delivery_final: boolean
  exposed_cents: string
  unclaimed_cents: string
  claim_booked: boolean
  refund_reason: RefundReason | null
  is_unsigned: boolean
  deposit: DepositFacts | null
  is_paid_fast: boolean
  waiting: Waiting | null
  deposit_senders: string[] | null
  changed_at: number
}

const SELECT = `
  select s.id as swap_id, s.state, s.version, ${OP_COLUMNS}, o.is_orphan, s.log_lost, s.signature, s.last_valid,
         s.delegation, s.origin_tx_hash, s.delivery_tx_hash, s.origin_final, s.origin_safe, s.delivery_final,
         s.exposed_cents, s.unclaimed_cents, s.claim_booked, s.refund_reason, s.is_unsigned, s.deposit,
         s.is_paid_fast, s.waiting, s.deposit_senders, ${toMs('s.updated_at')} as changed_at
    from swaps s join ops o on o.id = s.op_id`

/** `clause` is SQL over `swaps s` and `ops o`. */
export async function selectSwaps(db: Db, clause: string, values: unknown[]): Promise<Swap[]> {
  const { rows } = await db.query<Row>(`${SELECT} ${clause}`, values)
  return rows.map(toSwap)
}

function toSwap(row: Row): Swap {
  return {
    id: row.swap_id,
    state: row.state,
    version: row.version,
    op: toOp(row),
    signature: row.signature,
    lastValid: row.last_valid !== null ? BigInt(row.last_valid) : undefined,
    delegation: row.delegation ?? undefined,
    originTxHash: row.origin_tx_hash ?? undefined,
    deliveryTxHash: row.delivery_tx_hash ?? undefined,
    originFinal: row.origin_final,
    originSafe: row.origin_safe,
    deliveryFinal: row.delivery_final,
    exposedCents: BigInt(row.exposed_cents),
    unclaimedCents: BigInt(row.unclaimed_cents),
    changedAt: row.changed_at,
    isPaidFast: row.is_paid_fast,
    waiting: row.waiting ?? undefined,
    isClaimBooked: row.claim_booked,
    refundReason: row.refund_reason ?? undefined,
    isUnsigned: row.is_unsigned ? true : undefined,
    deposit: row.deposit ?? undefined,
    depositSenders: row.deposit_senders ?? undefined,
  }
}

function toOp(row: Row): Op {
  return {
    ...fromOpRow(row),
    ...(row.is_orphan && { isOrphan: true }),
    ...(row.log_lost && { isLogLost: true }),
  }
}
