import type { Reserved } from '../swap/budgets.ts'
import { refundedStates, type SwapState, unlockedStates } from '../swap/lifecycle.ts'
import type { Paid } from '../swap/pricing.ts'
import type { SignedDelegation, WayName } from '../swap/swap.ts'
import { spendOfDay } from './api-keys.ts'
import type { Db } from './db.ts'
import { isSentSql, METHOD, OPENS_ACCOUNT, PAY_AMOUNT } from './op-columns.ts'
import { listOf } from './sql.ts'

export type Submission = {
  opId: string
  accountId: string
  hash: string
  wallet: string
  originChain: number
  destinationChain: number
  inputToken: string
  outputToken: string
  recipient: string
  swappable: bigint
  quotedOutput: bigint
  minOutput: bigint
  venue: string
  payToken: string
  payAmount: bigint
  priceFloor: bigint
  valueCents: bigint
  expired: boolean
  /** The wallet's balance at the build, and inputs of its other swaps since then. */
  walletBalance: bigint
  openInputs: bigint
  inputAmount: bigint
  locker: string
  position: bigint
  opDeadline: number
  method: WayName
  permitNonce?: bigint
  /** Code of others answers for the wallet. */
  isContract: boolean
  /** Its account is opened at our cost before the payment lands. */
  opensAccount: boolean
  externalId?: string | undefined
  existing?: { swapId: string; state: SwapState }
}

type Row = {
  id: string
  account_id: string
  hash: string
  wallet: string
  origin_chain: string
  destination_chain: string
  input_token: string
  output_token: string
  recipient: string
  swappable: string
  quoted_output: string
  min_output: string
  venue: string
  pay_token: string
  pay_amount: string
  price_floor: string
  value_cents: string
  expired: boolean
  wallet_balance: string
  open_inputs: string
  input_amount: string
  locker: string
  position: string
  op_deadline: string
  method: WayName
  permit_nonce: string | null
  is_contract: boolean | null
  opens_account: boolean
  external_id: string | null
  swap_id: string | null
  state: SwapState | null
}

/** `expiresAt`: an expiry before that of the op, in milliseconds. */
type Submitted = { opId: string; expiresAt?: number | undefined }

const endOf = (expiresAt: string) => `least(o.expires_at, to_timestamp(${expiresAt}::float8 / 1000))`

/** Everything needed to judge a submission, as of now. Undefined if the op does not exist. */
export async function findSubmission(db: Db, submitted: Submitted): Promise<Submission | undefined> {
  const { rows } = await db.query<Row>(
    `select o.id, o.account_id, o.hash, o.wallet, o.origin_chain, o.destination_chain, o.input_token, o.output_token,
            o.recipient, o.swappable, o.quoted_output, o.min_output, o.venue, o.pay_token, o.pay_amount,
            o.price_floor, o.value_cents, ${endOf('$2')} <= clock_timestamp() as expired,
            o.wallet_balance, o.input_amount, o.locker, o.position, o.op_deadline, ${METHOD} as method,
            o.permit_nonce, o.is_contract, ${OPENS_ACCOUNT} as opens_account, o.external_id,
            s.id as swap_id, s.state,
            (select coalesce(sum(p.input_amount), 0) from swaps p
              where p.wallet = o.wallet and p.input_token = o.input_token and p.origin_chain = o.origin_chain
                and (p.state in ${listOf(unlockedStates)}
                     or p.locked_block > o.wallet_block and p.state not in ${listOf(refundedStates)})
                and not exists (select 1 from ops d where d.id = p.op_id and ${isSentSql('d')})
            ) as open_inputs
       from ops o left join swaps s on s.op_id = o.id
      where o.id = $1`,
    [submitted.opId, submitted.expiresAt],
  )
  return rows[0] && toSubmission(rows[0])
}

/**
 * Serializes first submissions of one op, and of one wallet's token, until the transaction ends. A waiting caller then
 * sees the commit of the previous one.
 */
export async function lockSubmission(db: Db, opId: string): Promise<void> {
  await db.query(
    `select pg_advisory_xact_lock(hashtextextended(o.origin_chain || o.wallet || o.input_token, 0))
       from ops o where o.id = $1 for update`,
    [opId],
  )
}

/** Serializes submissions of one wallet at one account, after `lockSubmission`. */
export async function lockWallet(
  db: Db,
  { accountId, wallet }: Pick<Submission, 'accountId' | 'wallet'>,
): Promise<void> {
  await db.query('select pg_advisory_xact_lock(hashtextextended($1, 2))', [accountId + wallet])
}

type NewSwap = Submitted & {
  swapId: string
  signature: string
  lastValid?: bigint
  delegation?: SignedDelegation
  /** Less than quoted, after a move of the market. */
  lowered?: Paid | undefined
  /** A key with a limit of the day, for which the input counts when it arrives. */
  spending?: { keyId: string; maxCents: bigint } | undefined
}

/** Inserts the swap; a trigger gives a deposit its own first state. False if it has expired by the database's clock. */
export async function insertSwap(db: Db, swap: NewSwap): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into swaps (id, op_id, quote_id, account_id, origin_chain, destination_chain, wallet, input_token,
                        input_amount, locker, signature, last_valid, delegation, timeline, lowered_output,
                        lowered_pay, spending_key, spending_most)
     select $1, o.id, o.quote_id, o.account_id, o.origin_chain, o.destination_chain, o.wallet, o.input_token,
            o.input_amount, o.locker, $3, $4, $5,
            jsonb_build_array(jsonb_build_object('stage', 'accepted', 'at', utc_now())), $7, $8, $9, $10
       from ops o where o.id = $2 and ${endOf('$6')} > clock_timestamp()`,
    [
      swap.swapId,
      swap.opId,
      swap.signature,
      swap.lastValid?.toString(),
      swap.delegation && JSON.stringify(swap.delegation),
      swap.expiresAt,
      swap.lowered?.output.toString(),
      swap.lowered?.pay.toString(),
      swap.spending?.keyId,
      swap.spending?.maxCents.toString(),
    ],
  )
  return rowCount === 1
}

/** Counts a sent input for the day of its key, once. False if the limit does not leave enough. */
export async function spendOnArrival(db: Db, swapId: string): Promise<boolean> {
  const { rows } = await db.query<{ key_id: string; most: string; cents: string }>(
    `select s.spending_key as key_id, s.spending_most as most, o.value_cents as cents
       from swaps s join ops o on o.id = s.op_id where s.id = $1 and s.spending_key is not null for update of s`,
    [swapId],
  )
  const [due] = rows
  if (!due) return true
  const [cents, maxCents] = [BigInt(due.cents), BigInt(due.most)]
  if (!(await spendOfDay(db, { keyId: due.key_id, cents, maxCents }))) return false
  await db.query('update swaps set spending_key = null where id = $1', [swapId])
  return true
}

/** Expires the op: it can no longer be submitted. */
export async function endOp(db: Db, opId: string): Promise<void> {
  await db.query('update ops set expires_at = least(expires_at, clock_timestamp()) where id = $1', [opId])
}

/** The vault's amounts of a token after a reservation of `amount`. */
type Reservation = Record<'held' | 'reserved' | 'amount', bigint>

/** Reserves the pay amount of a swap's op. Undefined if the vault has too little left. */
export async function reserveInventory(db: Db, opId: string): Promise<Reservation | undefined> {
  const { rows } = await db.query<Record<keyof Reservation, string>>(
    `update inventory i set reserved = i.reserved + ${PAY_AMOUNT}
       from ops o left join swaps s on s.op_id = o.id
      where o.id = $1 and i.chain_id = o.destination_chain and i.token = o.pay_token
        and i.held - i.reserved >= ${PAY_AMOUNT}
  returning i.held, i.reserved, ${PAY_AMOUNT} as amount`,
    [opId],
  )
  const [row] = rows
  return row && { held: BigInt(row.held), reserved: BigInt(row.reserved), amount: BigInt(row.amount) }
}

/** The largest input whose output, at the op's price, is still available. */
export async function readMostInput(db: Db, opId: string): Promise<bigint> {
  const { rows } = await db.query<{ most: string }>(
    `select coalesce(div(o.input_amount * greatest(i.held - i.reserved, 0), nullif(o.pay_amount, 0)), 0) as most
       from ops o left join inventory i on i.chain_id = o.destination_chain and i.token = o.pay_token
      where o.id = $1`,
    [opId],
  )
  return BigInt(rows[0]?.most ?? 0)
}

function toSubmission(row: Row): Submission {
  return {
    opId: row.id,
    accountId: row.account_id,
    isContract: row.is_contract ?? false,
    opensAccount: row.opens_account,
    externalId: row.external_id ?? undefined,
    hash: row.hash,
    wallet: row.wallet,
    originChain: Number(row.origin_chain),
    destinationChain: Number(row.destination_chain),
    inputToken: row.input_token,
    outputToken: row.output_token,
    recipient: row.recipient,
    swappable: BigInt(row.swappable),
    quotedOutput: BigInt(row.quoted_output),
    minOutput: BigInt(row.min_output),
    venue: row.venue,
    payToken: row.pay_token,
    payAmount: BigInt(row.pay_amount),
    priceFloor: BigInt(row.price_floor),
    valueCents: BigInt(row.value_cents),
    expired: row.expired,
    walletBalance: BigInt(row.wallet_balance),
    openInputs: BigInt(row.open_inputs),
    inputAmount: BigInt(row.input_amount),
    locker: row.locker,
    position: BigInt(row.position),
    opDeadline: Number(row.op_deadline),
    method: row.method,
    permitNonce: row.permit_nonce ? BigInt(row.permit_nonce) : undefined,
    ...(row.swap_id && row.state && { existing: { swapId: row.swap_id, state: row.state } }),
  }
}

// More would make a submission slow, and fewer would forget failures too soon.
const LAST_SWAPS = 50
// Among so many they are looked for.
const SEEN_SWAPS = 1_000

/**
 * Failures for which a caller is to blame. A price that moved, or a chain that is down, is not. Other failures count
 * for nothing: deposits that nobody pays cost nothing, and would hide these.
 */
const FAILED = `s.failure_code in ('INPUT_UNAVAILABLE', 'INVALID_AUTHORIZATION')`

/** The reservations of an op's token beside its own, which was made in this transaction. */
export async function readReserved(db: Db, opId: string): Promise<Reserved> {
  type Amounts = Record<'held' | 'reserved' | 'of_wallet' | 'of_account', string>
  const { rows } = await db.query<Amounts & { ended: number; failed: number }>(
    `select i.held, i.reserved, u.of_wallet, u.of_account, e.ended, e.failed
       from ops o
       join inventory i on i.chain_id = o.destination_chain and i.token = o.pay_token
      cross join lateral (
        select coalesce(sum(p.pay_amount), 0) as of_account,
               coalesce(sum(p.pay_amount) filter (where p.wallet = o.wallet), 0) as of_wallet
          from swaps s join ops p on p.id = s.op_id
         where s.account_id = o.account_id and s.state in ${listOf(unlockedStates)}
           and p.destination_chain = o.destination_chain and p.pay_token = o.pay_token
           and ${isSentSql('p')} is not true) u
      cross join lateral (
        select count(*)::int as ended, (count(*) filter (where c.status = 'failed'))::int as failed
          from (select h.status
                  from (select swap_id, status, created_at from account_swaps a
                         where a.account_id = o.account_id and a.status <> 'pending'
                           and a.created_at > clock_timestamp() - interval '1 hour'
                         order by a.created_at desc limit ${SEEN_SWAPS}) h
                  join swaps s on s.id = h.swap_id
                 where h.status <> 'failed' or ${FAILED}
                 order by h.created_at desc limit ${LAST_SWAPS}) c) e
      where o.id = $1`,
    [opId],
  )
  const row = rows[0]
  if (!row) throw new Error(`Op ${opId} has no inventory`)
  return {
    held: BigInt(row.held),
    reserved: BigInt(row.reserved),
    ofWallet: BigInt(row.of_wallet),
    ofAccount: BigInt(row.of_account),
    ended: row.ended,
    failed: row.failed,
  }
}
