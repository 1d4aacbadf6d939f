import { type ClaimBook, hourOf } from '../swap/exposure.ts'
import { groupBy } from '../swap/group.ts'
import { awaitingStates, claimableStates, endedStates, owedStates } from '../swap/lifecycle.ts'
import { leavingVault } from '../swap/pricing.ts'
import type { Swap } from '../swap/swap.ts'
import type { Db } from './db.ts'
import { listOf } from './sql.ts'

type Booking = {
  chainId: number
  swaps: readonly Swap[]
  /** Time of the origin chain's clock. */
  seconds: number
  /** Hourly claim caps, by token; absent if unlimited. */
  caps: ReadonlyMap<string, bigint>
}

/**
 * Books the claims of inputs that are about to be locked. False if a token's cap has no room: the caller rolls back. An
 * input that is already booked needs none. Concurrent bookings of one token wait for its row.
 */
export async function bookClaims(db: Db, { chainId, swaps, seconds, caps }: Booking): Promise<boolean> {
  const { rows } = await db.query<{ fits: boolean }>(
    `with booked as (
       update swaps set claim_booked = true where id = any($1) and not claim_booked
       returning input_token as token, input_amount as amount
     ), wanted as (
       select token, sum(amount) as amount, min(cap) as cap
         from booked left join unnest($4::text[], $5::numeric[]) as capped (token, cap) using (token) group by token
     ), written as (
       insert into claim_books as b (chain_id, token, open)
       select $2, token, amount from wanted where cap is null or amount <= cap order by token
       on conflict (chain_id, token) do update set open = b.open + excluded.open
        where coalesce(b.open + excluded.open + case when b.hour < $3 then 0 else b.claimed end
                       <= (select cap from wanted w where w.token = b.token), true)
       returning 1
     )
     select (select count(*) from written) = (select count(*) from wanted) as fits`,
    [
      swaps.map((swap) => swap.id),
      chainId,
      hourOf(seconds),
      [...caps.keys()],
      [...caps.values()].map(String),
    ],
  )
  return rows[0]?.fits === true
}

export type TokenBook = ClaimBook & { chainId: number; token: string }

export async function readClaimBooks(db: Db): Promise<TokenBook[]> {
  const { rows } = await db.query<BookRow>('select chain_id, token, open, claimed, hour from claim_books')
  return rows.map(toTokenBook)
}

export type BookRow = Record<'chain_id' | 'token' | 'open' | 'claimed' | 'hour', string>

export const toTokenBook = (row: BookRow): TokenBook => ({
  chainId: Number(row.chain_id),
  token: row.token,
  open: BigInt(row.open),
  claimed: BigInt(row.claimed),
  hour: Number(row.hour),
})

export type SpentCap = { chainId: number; token: string; amount: bigint; seconds: number }

/**
 * Recomputes bookings after a restore: every input that may have to be claimed, every delivery whose input is not
 * finally claimed, and claims that the chains show in this hour.
 */
export async function recountClaims(db: Db, spent: readonly SpentCap[]): Promise<void> {
  await db.query(`update swaps set claim_booked = state in ${listOf(claimableStates)}
                   where claim_booked or state not in ${listOf([...awaitingStates, 'accepted', ...endedStates])}`)
  await db.query('update claim_books set open = 0')
  await db.query(
    `insert into claim_books as b (chain_id, token, open)
     select origin_chain, input_token, sum(input_amount) from swaps where claim_booked group by 1, 2
     on conflict (chain_id, token) do update set open = excluded.open`,
  )
  for (const { chainId, token, amount, seconds } of spent) {
    await db.query(
      `insert into claim_books as b (chain_id, token, claimed, hour) values ($1, $2, $3, $4)
       on conflict (chain_id, token) do update set hour = greatest(b.hour, excluded.hour),
         claimed = case when b.hour < excluded.hour then excluded.claimed
                   else greatest(b.claimed, excluded.claimed) end`,
      [chainId, token, amount.toString(), hourOf(seconds)],
    )
  }
  await recountUnclaimed(db)
}

/** A swap with lost attempts counts as delivered, since a delivery may have been signed. */
async function recountUnclaimed(db: Db): Promise<void> {
  await db.query(
    `update swaps s set unclaimed_cents = o.value_cents from ops o
      where o.id = s.op_id and s.unclaimed_cents = 0
        and (s.state in ${listOf(owedStates)} or s.state in ${listOf(['locking', 'locked'])} and s.log_lost)`,
  )
  await db.query('update exposure set unclaimed_cents = 0')
  await db.query(
    `insert into exposure as e (chain_id, unclaimed_cents)
     select chain_id, sum(cents) from (
       select origin_chain as chain_id, unclaimed_cents as cents from swaps
        where state in ${listOf(claimableStates)}
       union all select chain_id, cents from lost_inputs where written_off_at is null) as each
      group by 1
     on conflict (chain_id) do update set unclaimed_cents = excluded.unclaimed_cents`,
  )
}

/** The cap of a token in an hour in which this was paid already. */
type PayoutCapOf = (token: string, paid: bigint) => bigint

type PayoutBooking = { chainId: number; swaps: readonly Swap[]; seconds: number; capOf: PayoutCapOf }

/**
 * Books payouts in the transaction that records their delivery. False if a cap has no room: the caller rolls back. A
 * swap that is booked already needs none, so that a delivery that is sent again counts once.
 */
export async function bookPayouts(
  db: Db,
  { chainId, swaps, seconds, capOf }: PayoutBooking,
): Promise<boolean> {
  const { rows } = await db.query<{ id: string }>(
    'update swaps set payout_booked = true where id = any($1) and not payout_booked returning id',
    [swaps.map(({ id }) => id)],
  )
  const booked = new Set(rows.map(({ id }) => id))
  const payouts = swaps.filter(({ id }) => booked.has(id)).map(({ op }) => leavingVault(op))
  const byToken = [...groupBy(payouts, ({ token }) => token)].toSorted(([a], [b]) => (a < b ? -1 : 1))
  for (const [token, group] of byToken) {
    const amount = group.reduce((sum, payout) => sum + payout.amount, 0n)
    if (!(await bookPayout(db, { chainId, token, amount, hour: hourOf(seconds), capOf }))) return false
  }
  return true
}

type Payout = { chainId: number; token: string; amount: bigint; hour: number; capOf: PayoutCapOf }

/** Concurrent bookings of one token wait for its row. An hour that is over counts as the present one. */
async function bookPayout(db: Db, { chainId, token, amount, hour, capOf }: Payout): Promise<boolean> {
  const { rows } = await db.query<{ before: string }>(
    `insert into payout_books as b (chain_id, token, hour, paid) values ($1, $2, $3, $4)
     on conflict (chain_id, token) do update set hour = greatest(b.hour, excluded.hour),
       paid = case when b.hour < excluded.hour then 0 else b.paid end + excluded.paid
     returning paid - $4::numeric as before`,
    [chainId, token, hour, amount.toString()],
  )
  const before = BigInt(rows[0]?.before ?? 0)
  return before + amount <= capOf(token, before)
}

/** The amount of each token that was paid in this hour. */
export async function readPaid(db: Db, chainId: number, seconds: number): Promise<Map<string, bigint>> {
  const { rows } = await db.query<{ token: string; paid: string }>(
    'select token, paid from payout_books where chain_id = $1 and hour >= $2',
    [chainId, hourOf(seconds)],
  )
  return new Map(rows.map(({ token, paid }) => [token, BigInt(paid)]))
}
