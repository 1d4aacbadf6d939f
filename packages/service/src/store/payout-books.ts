import { hourOf } from '../model/claim-room.ts'
import { leavingVault } from '../model/follow-price.ts'
import { groupBy } from '../model/group.ts'
import type { Swap } from '../model/swap.ts'
import type { Db } from './db.ts'

/** The cap of a token in an hour in which this was paid already. */
type PayoutCapOf = (token: string, paid: bigint) => bigint

type Booking = { chainId: number; swaps: readonly Swap[]; seconds: number; capOf: PayoutCapOf }

/**
 * Books payouts in the transaction that records their delivery. False if a cap has no room: the caller rolls back. A
 * swap that is booked already needs none, so that a delivery that is sent again counts once.
 */
export async function bookPayouts(db: Db, { chainId, swaps, seconds, capOf }: Booking): Promise<boolean> {
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
