import type { Db } from './db.ts'

const TODAY = `(clock_timestamp() at time zone 'utc')::date`

/** The value of the swaps that the key submitted today, by the database's clock. */
export async function readSpentCents(db: Db, keyId: string): Promise<bigint> {
  const { rows } = await db.query<{ cents: string }>(
    `select cents from key_spending where key_id = $1 and day >= ${TODAY}`,
    [keyId],
  )
  return BigInt(rows[0]?.cents ?? 0)
}

type Spending = { keyId: string; cents: bigint; maxCents: bigint }

/**
 * Adds a swap to the day of its key. False if the day's limit does not leave enough. The row lock makes submissions of
 * all processes take turns.
 */
export async function spendOfDay(db: Db, { keyId, cents, maxCents }: Spending): Promise<boolean> {
  if (cents > maxCents) return false
  const { rowCount } = await db.query(
    `insert into key_spending as spent (key_id, day, cents) values ($1, ${TODAY}, $2)
     on conflict (key_id) do update
        set day = greatest(spent.day, excluded.day),
            cents = case when spent.day >= excluded.day then spent.cents else 0 end + excluded.cents
      where case when spent.day >= excluded.day then spent.cents else 0 end + excluded.cents <= $3`,
    [keyId, cents.toString(), maxCents.toString()],
  )
  return rowCount === 1
}
