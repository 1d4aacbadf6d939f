import type { Op, WayName } from '../swap/swap.ts'
import { heldWays, sentWays } from '../ways/registry.ts'
import { listOf, toJson } from './sql.ts'

/** A column of `ops`, and how its value is stored and read. `copy` if a swap is read with the copy in its own row. */
type Column<Value> = {
  name: string
  copy?: boolean
  /** SQL over `swaps s` and `ops o`, if a swap is read with another value than its op was built with. */
  ofSwap?: string
  toStored(value: Value): unknown
  fromStored(stored: unknown): Value
}

const text = (name: string): Column<string> => ({ name, toStored: (value) => value, fromStored: String })
const flag = (name: string): Column<boolean> => ({ name, toStored: (value) => value, fromStored: Boolean })
const integer = (name: string): Column<number> => ({ name, toStored: (value) => value, fromStored: Number })
const amount = (name: string): Column<bigint> => ({
  name,
  toStored: (value) => value.toString(),
  fromStored: (stored) => BigInt(String(stored)),
})
const optional = <Value>({ name, ...column }: Column<Value>): Column<Value | undefined> => ({
  name,
  toStored: (value) => (value === undefined ? null : column.toStored(value)),
  fromStored: (stored) => (stored === null ? undefined : column.fromStored(stored)),
})
const json = (name: string): Column<object> => ({
  name,
  toStored: toJson,
  fromStored: (stored) => stored as object,
})

/** SQL: what leaves the vault for a swap, from `swaps s` and `ops o`. */
export const PAY_AMOUNT = 'coalesce(s.lowered_pay, o.pay_amount)'

/**
 * SQL: how the input of `ops o` comes in. Without a stored way the wallet signs a transaction if the delivery hash is
 * the op's hash. Otherwise it has a delegation, as all wallets of EVM chains had before there were other ways.
 */
export const METHOD =
  "coalesce(o.method, case when o.hash = o.delivery_hash then 'transaction' else 'delegation' end)"

/** SQL condition: the input of this op is sent to the op's own address. */
export const isSentSql = (op: string) => `(${op}.method in ${listOf(sentWays)})`

/** SQL condition: a payment on Solana, where the op's id is the hash of its delivery. */
export const OPENS_ACCOUNT = "coalesce(o.method = 'payment' and o.hash = o.delivery_hash, false)"

/** SQL condition: the input of this op lies at the op's own address before its lock. */
export const isHeldSql = (op: string) => `(${op}.method in ${listOf(heldWays)})`

/** An op as it is built. A rebuild sets the other fields of `Op` later. */
type BuiltOp = Omit<Op, 'isOrphan' | 'isLogLost'>

/** Fields that are stored with an op and that no swap is read with. */
type BuildRecord = {
  quoteId: string
  accountId: string
  terms: object
  walletBalance: bigint
  externalId?: string | undefined
}
export type NewOp = BuiltOp & BuildRecord

const COLUMNS: { readonly [Field in keyof Required<BuiltOp>]: Column<BuiltOp[Field]> } = {
  id: text('id'),
  hash: text('hash'),
  deliveryHash: text('delivery_hash'),
  originChain: { ...integer('origin_chain'), copy: true },
  destinationChain: { ...integer('destination_chain'), copy: true },
  wallet: { ...text('wallet'), copy: true },
  inputToken: { ...text('input_token'), copy: true },
  inputAmount: { ...amount('input_amount'), copy: true },
  outputToken: text('output_token'),
  quotedOutput: { ...amount('quoted_output'), ofSwap: 'coalesce(s.lowered_output, o.quoted_output)' },
  minOutput: amount('min_output'),
  swappable: amount('swappable'),
  venue: text('venue'),
  payToken: text('pay_token'),
  payAmount: { ...amount('pay_amount'), ofSwap: PAY_AMOUNT },
  priceFloor: {
    ...amount('price_floor'),
    // In proportion to a lowered payment, rounded up.
    ofSwap: `case when s.lowered_pay is null or o.pay_amount = 0 then o.price_floor
                  else div(o.price_floor * s.lowered_pay + o.pay_amount - 1, o.pay_amount) end`,
  },
  integratorFee: amount('integrator_fee'),
  fastOutput: {
    ...amount('fast_output'),
    // In proportion to a lowered payment.
    ofSwap: `case when s.lowered_output is null or o.quoted_output = 0 then o.fast_output
                  else div(o.fast_output * s.lowered_output, o.quoted_output) end`,
  },
  riskPremium: amount('risk_premium'),
  recipient: text('recipient'),
  createsAccount: flag('creates_account'),
  locker: text('locker'),
  position: amount('position'),
  round: amount('round'),
  opDeadline: integer('op_deadline'),
  fillDeadline: integer('fill_deadline'),
  refundDeadline: integer('refund_deadline'),
  valueCents: amount('value_cents'),
  lockFeeBound: amount('lock_fee_bound'),
  deliveryFeeBound: amount('delivery_fee_bound'),
  walletBlock: amount('wallet_block'),
  originBlock: amount('origin_block'),
  destinationBlock: amount('destination_block'),
  method: {
    name: 'method',
    ofSwap: METHOD,
    // The caller chose it: a chain on which wallets sign transfers has no choice.
    toStored: (method) => (method === 'transaction' ? null : method),
    fromStored: (stored) => stored as WayName,
  },
  depositAddress: optional(text('deposit_address')),
  permitNonce: optional(amount('permit_nonce')),
  isContract: optional(flag('is_contract')),
}

const BUILD_COLUMNS: { readonly [Field in keyof Required<BuildRecord>]: Column<BuildRecord[Field]> } = {
  quoteId: text('quote_id'),
  accountId: text('account_id'),
  terms: json('terms'),
  walletBalance: amount('wallet_balance'),
  externalId: optional(text('external_id')),
}

type AnyColumn = readonly [field: keyof NewOp, column: Column<never>]
const columns = Object.entries(COLUMNS) as unknown as AnyColumn[]
const inserted = Object.entries({ ...COLUMNS, ...BUILD_COLUMNS }) as unknown as AnyColumn[]

/** The columns that a build inserts, besides the expiry. */
export const INSERTED_COLUMNS = inserted.map(([, { name }]) => name)

export function toInserted(op: NewOp): unknown[] {
  return inserted.map(([field, { toStored }]) => toStored(op[field] as never))
}

/** The columns of an op, from `swaps s` and `ops o`. */
export const OP_COLUMNS = columns
  .map(([, { name, copy, ofSwap }]) => (ofSwap ? `${ofSwap} as ${name}` : `${copy ? 's' : 'o'}.${name}`))
  .join(', ')

export function fromOpRow(row: Readonly<Record<string, unknown>>): BuiltOp {
  const fields = columns.map(([field, { name, fromStored }]) => [field, fromStored(row[name])])
  return Object.fromEntries(fields)
}
