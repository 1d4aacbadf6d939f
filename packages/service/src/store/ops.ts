import type { LockRef } from '../chains/chain.ts'
import type { Op, WayName } from '../swap/swap.ts'
import type { Db } from './db.ts'
import { INSERTED_COLUMNS, isSentSql, METHOD, type NewOp, toInserted } from './op-columns.ts'
import { IS_OPEN, toJson } from './sql.ts'

/** A round is an 8-bit epoch and a 24-bit counter, so that no index is issued again after a restore. */
const EPOCH_SHIFT = 24n

/** The owner of the positions: one locker, or all lockers of the chain if `isShared`. */
type Ring = { chainId: number; locker: string; isShared: boolean }

/**
 * Takes the lowest free position of a ring with its next round, or a new position at the end. Low positions come first,
 * so that the escrow overwrites non-zero words. In a shared ring, two lockers may have rows for one position: the
 * higher round counts, and the position is free only if both rows are.
 */
export async function takePosition(db: Db, ring: Ring & { opId: string }) {
  const { rows } = await db.query<{ position: string; round: string }>(
    `with epoch as (select (epoch::bigint << ${EPOCH_SHIFT}) as floor from service_epoch), free as (
       select r.locker, r.position from ring_positions r
        where r.chain_id = $1 and (r.locker = $2 or $4) and r.op_id is null
          and not ($4 and exists (
            select 1 from ring_positions o
             where o.chain_id = r.chain_id and o.position = r.position and o.locker <> r.locker
               and (o.op_id is not null or (o.last_round, o.locker) > (r.last_round, r.locker))))
        order by r.position limit 1 for update skip locked
     )
     update ring_positions p set op_id = $3, last_round = greatest(p.last_round, epoch.floor) + 1
       from free, epoch
      where p.chain_id = $1 and p.locker = free.locker and p.position = free.position
  returning p.position, p.last_round as round`,
    [ring.chainId, ring.locker, ring.opId, ring.isShared],
  )
  const row = rows[0] ?? (await addPosition(db, ring))
  return { position: BigInt(row.position), round: BigInt(row.round) }
}

async function addPosition(db: Db, ring: Ring & { opId: string }) {
  const lock = (name: string) => db.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [name])
  if (ring.isShared) await lock(`ring:${ring.chainId}`)
  await lock(`ring:${ring.chainId}:${ring.locker}`)
  const { rows } = await db.query<{ position: string; round: string }>(
    `insert into ring_positions (chain_id, locker, position, last_round, op_id)
     select $1, $2, coalesce(max(p.position) + 1, 0),
            (select (epoch::bigint << ${EPOCH_SHIFT}) + 1 from service_epoch), $3
       from ring_positions p where p.chain_id = $1 and (p.locker = $2 or $4)
  returning position, last_round as round`,
    [ring.chainId, ring.locker, ring.opId, ring.isShared],
  )
  const row = rows[0]
  if (!row) throw new Error('No position was added')
  return row
}

const hasOpenSwap = (opId: string) =>
  `exists (select 1 from swaps s where s.op_id = ${opId} and s.${IS_OPEN})`

/**
 * Frees positions, except those of open swaps. An input that lands after its position was given to another op could be
 * neither delivered nor refunded.
 */
export async function freePositions(db: Db, opIds: readonly string[]): Promise<void> {
  await db.query(
    `update ring_positions p set op_id = null where p.op_id = any($1) and not ${hasOpenSwap('p.op_id')}`,
    [opIds],
  )
}

type HeldPosition = LockRef & { opId: string }

export const LOCK_REF =
  'o.hash, o.locker, o.position, o.wallet, o.input_token, o.input_amount, o.refund_deadline'

export type LockRefRow = {
  hash: string
  locker: string
  position: string
  wallet: string
  input_token: string
  input_amount: string
  refund_deadline: string
}

/**
 * Positions whose op is past its deadline at this time of the chain and has no open swap, nor can get one. The deadline
 * alone is not enough: a transaction signed by the wallet itself expires by block height, not by deadline.
 */
export async function findPositionsPast(
  db: Db,
  chainId: number,
  chainSeconds: number,
): Promise<HeldPosition[]> {
  const { rows } = await db.query<LockRefRow & { id: string }>(
    `select o.id, ${LOCK_REF}
       from ring_positions p join ops o on o.id = p.op_id
      where p.chain_id = $1 and o.op_deadline < $2 and o.expires_at <= clock_timestamp()
        and not ${hasOpenSwap('o.id')} limit 5000`,
    [chainId, chainSeconds],
  )
  return rows.map((row) => ({ opId: row.id, ...toLockRef(row) }))
}

export const toLockRef = (row: LockRefRow): LockRef => ({
  hash: row.hash,
  locker: row.locker,
  position: BigInt(row.position),
  wallet: row.wallet,
  inputToken: row.input_token,
  inputAmount: BigInt(row.input_amount),
  refundDeadline: Number(row.refund_deadline),
})

/** The number of open operations per locker, to choose the least busy. */
export async function countOpenByLocker(db: Db, chainId: number): Promise<Map<string, number>> {
  const { rows } = await db.query<{ locker: string; open: string }>(
    `select locker, count(*) as open from ring_positions where chain_id = $1 and op_id is not null group by 1`,
    [chainId],
  )
  return new Map(rows.map((row) => [row.locker, Number(row.open)]))
}

export type OpValue = { opId: string; cents: bigint }

export type StoredOp = {
  id: string
  hash: string
  locker: string
  refundDeadline: number
  terms: unknown
  expiresAt: Date
  method: WayName
  depositAddress: string | undefined
  permitNonce: bigint | undefined
}

export async function findOpByQuote(db: Db, quoteId: string): Promise<StoredOp | undefined> {
  type Found = Pick<StoredOp, 'id' | 'hash' | 'locker' | 'terms' | 'method'> & {
    refund_deadline: string
    expires_at: Date
    deposit_address: string | null
    permit_nonce: string | null
  }
  const { rows } = await db.query<Found>(
    `select id, hash, locker, refund_deadline, terms, expires_at, ${METHOD} as method, deposit_address,
            permit_nonce
       from ops o where quote_id = $1`,
    [quoteId],
  )
  const [row] = rows
  if (!row) return undefined
  const { refund_deadline, expires_at: expiresAt, deposit_address, permit_nonce, ...op } = row
  return {
    ...op,
    expiresAt,
    refundDeadline: Number(refund_deadline),
    depositAddress: deposit_address ?? undefined,
    permitNonce: permit_nonce === null ? undefined : BigInt(permit_nonce),
  }
}

/** An op that is offered to payers of requests. */
export type PayableOp = Pick<
  Op,
  'id' | 'wallet' | 'locker' | 'originChain' | 'inputToken' | 'inputAmount' | 'opDeadline' | 'refundDeadline'
>

/** The op that a payment to this address, or with this hash, is for, whatever became of it. */
export async function findPayable(
  db: Db,
  { accountId, name }: { accountId: string; name: string },
): Promise<PayableOp | undefined> {
  const { rows } = await db.query<
    Record<'id' | 'wallet' | 'locker' | 'chain' | 'token' | 'amount' | 'deadline' | 'refund', string>
  >(
    `select id, wallet, locker, origin_chain as chain, input_token as token, input_amount as amount,
            op_deadline as deadline, refund_deadline as refund
       from ops where (deposit_address = $2 or hash = $2) and account_id = $1 and method = 'payment'`,
    [accountId, name],
  )
  const [row] = rows
  if (!row) return undefined
  const { id, wallet, locker, token: inputToken } = row
  const [originChain, inputAmount] = [Number(row.chain), BigInt(row.amount)]
  const [opDeadline, refundDeadline] = [Number(row.deadline), Number(row.refund)]
  return { id, wallet, locker, originChain, inputToken, inputAmount, opDeadline, refundDeadline }
}

type SeenBalance = { opId: string; balance: bigint; block: bigint }

/** Updates the wallet balance of an op that was not submitted, if the block is newer. */
export async function refreshBalance(db: Db, { opId, balance, block }: SeenBalance): Promise<void> {
  await db.query(
    `update ops o set wallet_balance = $2, wallet_block = $3
      where o.id = $1 and o.wallet_block < $3 and not exists (select 1 from swaps s where s.op_id = o.id)`,
    [opId, balance, block],
  )
}

type Unsubmitted = { count: number; cents: bigint }

/**
 * The built operations of an account, or of one wallet there, that can still be submitted, or paid by what is sent to
 * them: their number and value. Those
 * whose input is sent are counted apart: whoever builds one needs to hold nothing.
 */
export async function readUnsubmitted(
  db: Db,
  { accountId, isSent, wallet }: { accountId: string; isSent: boolean; wallet?: string },
): Promise<Unsubmitted> {
  const { rows } = await db.query<{ count: string; cents: string }>(
    `select count(*), coalesce(sum(u.value_cents), 0) as cents
       from (select o.value_cents from ops o
              where o.account_id = $1 and o.expires_at > statement_timestamp() and o.wallet = coalesce($3, o.wallet)
                and (${isSentSql('o')} is true) = $2
                and not exists (select 1 from swaps s where s.op_id = o.id)
             union all
             select o.value_cents from swaps s join ops o on o.id = s.op_id
              where $2 and s.account_id = $1 and s.state = 'awaitingDeposit' and s.wallet = coalesce($3, s.wallet)
                and o.op_deadline > extract(epoch from statement_timestamp())) u`,
    [accountId, isSent, wallet],
  )
  return { count: Number(rows[0]?.count ?? 0), cents: BigInt(rows[0]?.cents ?? 0) }
}

const INSERT = `
  insert into ops (${INSERTED_COLUMNS.join(', ')}, expires_at)
  values (${INSERTED_COLUMNS.map((_, i) => `$${i + 2}`).join(', ')}, clock_timestamp() + make_interval(secs => $1))
  returning expires_at`

/** Stores the first build of a quote. The database's clock sets its expiry. */
export async function insertOp(db: Db, op: NewOp, lifeSeconds: number): Promise<StoredOp> {
  const { rows } = await db.query<{ expires_at: Date }>(INSERT, [lifeSeconds, ...toInserted(op)])
  const row = rows[0]
  if (!row) throw new Error('The operation was not stored')
  const { id, hash, locker, refundDeadline, method, depositAddress, permitNonce } = op
  const kept = { id, hash, locker, refundDeadline, method, depositAddress, permitNonce }
  return { ...kept, terms: JSON.parse(toJson(op.terms)), expiresAt: row.expires_at }
}

/** Raises the values of ops above those of their quotes. A value is never lowered. */
export async function raiseValues(db: Db, values: readonly OpValue[]): Promise<void> {
  if (values.length === 0) return
  await db.query(
    `update ops o set value_cents = v.cents from unnest($1::uuid[], $2::bigint[]) as v (id, cents)
      where o.id = v.id and o.value_cents < v.cents`,
    [values.map(({ opId }) => opId), values.map(({ cents }) => cents.toString())],
  )
}
