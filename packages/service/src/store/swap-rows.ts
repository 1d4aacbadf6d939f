import type { SwapState } from '../model/lifecycle.ts'
import type { RefundReason } from '../model/outcome.ts'
import type { Op, SignedDelegation, Swap } from '../model/swap.ts'
import type { Db } from './db.ts'

type Row = {
  id: string
  state: SwapState
  version: number
  op_id: string
  hash: string
  delivery_hash: string
  origin_chain: string
  destination_chain: string
  wallet: string
  input_token: string
  input_amount: string
  output_token: string
  quoted_output: string
  min_output: string
  swappable: string
  price_floor: string
  venue: string
  pay_token: string
  pay_amount: string
  recipient: string
  locker: string
  position: string
  round: string
  op_deadline: string
  fill_deadline: string
  refund_deadline: string
  value_cents: string
  lock_fee_bound: string
  delivery_fee_bound: string
  wallet_block: string
  origin_block: string
  destination_block: string
  creates_account: boolean
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
}

const SELECT = `
  select s.id, s.state, s.version, s.op_id, o.hash, o.delivery_hash, s.origin_chain,
         s.destination_chain, s.wallet, s.input_token, s.input_amount, o.output_token, o.quoted_output,
         o.min_output, o.swappable, o.price_floor, o.venue, o.pay_token, o.pay_amount, o.recipient, o.locker,
         o.position, o.round,
         o.op_deadline, o.fill_deadline, o.refund_deadline, o.value_cents, o.wallet_block, o.origin_block,
         o.destination_block,
         o.lock_fee_bound, o.delivery_fee_bound,
         o.creates_account, o.is_orphan, s.log_lost, s.signature, s.last_valid, s.delegation,
         s.origin_tx_hash, s.delivery_tx_hash, s.origin_final, s.origin_safe, s.delivery_final,
         s.exposed_cents, s.unclaimed_cents, s.claim_booked, s.refund_reason,
         s.is_unsigned
    from swaps s join ops o on o.id = s.op_id`

/** `clause` is SQL over `swaps s` and `ops o`. */
export async function selectSwaps(db: Db, clause: string, values: unknown[]): Promise<Swap[]> {
  const { rows } = await db.query<Row>(`${SELECT} ${clause}`, values)
  return rows.map(toSwap)
}

function toSwap(row: Row): Swap {
  return {
    id: row.id,
    state: row.state,
    version: row.version,
    op: toOp(row),
    signature: row.signature,
    ...(row.last_valid !== null && { lastValid: BigInt(row.last_valid) }),
    ...(row.delegation && { delegation: row.delegation }),
    ...(row.origin_tx_hash && { originTxHash: row.origin_tx_hash }),
    ...(row.delivery_tx_hash && { deliveryTxHash: row.delivery_tx_hash }),
    originFinal: row.origin_final,
    originSafe: row.origin_safe,
    deliveryFinal: row.delivery_final,
    exposedCents: BigInt(row.exposed_cents),
    unclaimedCents: BigInt(row.unclaimed_cents),
    isClaimBooked: row.claim_booked,
    ...(row.refund_reason && { refundReason: row.refund_reason }),
    ...(row.is_unsigned && { isUnsigned: true }),
  }
}

function toOp(row: Row): Op {
  return {
    id: row.op_id,
    hash: row.hash,
    deliveryHash: row.delivery_hash,
    originChain: Number(row.origin_chain),
    destinationChain: Number(row.destination_chain),
    wallet: row.wallet,
    inputToken: row.input_token,
    inputAmount: BigInt(row.input_amount),
    outputToken: row.output_token,
    quotedOutput: BigInt(row.quoted_output),
    minOutput: BigInt(row.min_output),
    swappable: BigInt(row.swappable),
    venue: row.venue,
    payToken: row.pay_token,
    payAmount: BigInt(row.pay_amount),
    priceFloor: BigInt(row.price_floor),
    recipient: row.recipient,
    createsAccount: row.creates_account,
    locker: row.locker,
    position: BigInt(row.position),
    round: BigInt(row.round),
    opDeadline: Number(row.op_deadline),
    fillDeadline: Number(row.fill_deadline),
    refundDeadline: Number(row.refund_deadline),
    valueCents: BigInt(row.value_cents),
    lockFeeBound: BigInt(row.lock_fee_bound),
    deliveryFeeBound: BigInt(row.delivery_fee_bound),
    walletBlock: BigInt(row.wallet_block),
    originBlock: BigInt(row.origin_block),
    destinationBlock: BigInt(row.destination_block),
    ...(row.is_orphan && { isOrphan: true }),
    ...(row.log_lost && { isLogLost: true }),
  }
}
