import { type BookRow, type TokenBook, toTokenBook } from './claim-books.ts'
import type { Db } from './db.ts'
import { BOOKED_COLUMNS, type Booked, type BookedRow, toBooked } from './exposure.ts'
import { type Holding, type HoldingRow, toHolding } from './inventory.ts'

/** JSON of a small table; numbers are texts, because JSON would round them. */
const rowsOf = (table: string, columns: readonly string[]) =>
  `(select coalesce(json_agg(json_build_object(${columns.map((name) => `'${name}', ${name}::text`).join(', ')})), '[]')
      from ${table})`

const READ = `
  select ${rowsOf('inventory', ['chain_id', 'token', 'held', 'reserved'])} as holdings,
         ${rowsOf('claim_books', ['chain_id', 'token', 'open', 'claimed', 'hour'])} as books,
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
