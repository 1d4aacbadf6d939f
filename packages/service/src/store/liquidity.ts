import type { Wasted } from '../swap/budgets.ts'
import { type BookRow, type TokenBook, toTokenBook } from './claim-books.ts'
import type { Db } from './db.ts'
import { BOOKED_COLUMNS, type Booked, type BookedRow, toBooked } from './exposure.ts'
import { FIND_WASTED, toWastedById, type WastedRow } from './gas.ts'
import { type Holding, type HoldingRow, toHolding } from './inventory.ts'

/** JSON of a small table; numbers are texts, because JSON would round them. */
const rowsOf = (table: string, columns: readonly string[]) =>
  `(select coalesce(json_agg(json_build_object(${columns.map((name) => `'${name}', ${name}::text`).join(', ')})), '[]')
      from ${table})`

const BOOKS = rowsOf('claim_books', ['chain_id', 'token', 'open', 'claimed', 'hour'])
const READ = `
  select ${rowsOf('inventory', ['chain_id', 'token', 'held', 'reserved'])} as holdings, ${BOOKS} as books,
         ${rowsOf('exposure', BOOKED_COLUMNS)} as deliveries`

type Liquidity = { holdings: Holding[]; books: TokenBook[]; deliveries: Map<number, Booked> }
type Row = { holdings: HoldingRow[]; books: BookRow[]; deliveries: BookedRow[] }

/** All that quotes need to know of the database, in one statement: each API process reads it twice a second. */
export async function readLiquidity(db: Db): Promise<Liquidity> {
  const { rows } = await db.query<Row>(READ)
  const { holdings, books, deliveries } = rows[0] ?? { holdings: [], books: [], deliveries: [] }
  return {
    holdings: holdings.map(toHolding),
    books: books.map(toTokenBook),
    deliveries: toBooked(deliveries),
  }
}

const READ_LIMITS = `
  select (select coalesce(json_agg(json_build_object('id', w.id, 'wallet_e6', w.wallet_e6::text, 'known', w.known,
                   'account_e6', w.account_e6::text, 'chain_e6', w.chain_e6::text)), '[]')
            from (${FIND_WASTED}) w) as wasted, ${BOOKS} as books`

type LockLimits = { wasted: Map<string, Wasted>; books: TokenBook[] }

/** Gas wasted for these ops in this hour, and the bookings of claims: one statement before each lock. */
export async function readLockLimits(db: Db, opIds: readonly string[]): Promise<LockLimits> {
  const { rows } = await db.query<{ wasted: WastedRow[]; books: BookRow[] }>(READ_LIMITS, [opIds])
  const { wasted, books } = rows[0] ?? { wasted: [], books: [] }
  return { wasted: toWastedById(wasted), books: books.map(toTokenBook) }
}
