import type { LedgerAccount, Transfer } from '../swap/books.ts'
import { paidStates } from '../swap/lifecycle.ts'
import type { Db } from './db.ts'
import { PAY_AMOUNT } from './op-columns.ts'
import { IS_OPEN, listOf } from './sql.ts'

export type LedgerCursor = { openedBlock: bigint; block: bigint }

export async function findLedgerCursor(db: Db, chainId: number): Promise<LedgerCursor | undefined> {
  const { rows } = await db.query<{ opened_block: string; block: string }>(
    'select opened_block, block from ledger_cursors where chain_id = $1',
    [chainId],
  )
  return rows[0] && { openedBlock: BigInt(rows[0].opened_block), block: BigInt(rows[0].block) }
}

/** The first facts of a reading of the books of a chain. */
export type LedgerStart = {
  cursor: LedgerCursor | undefined
  /** Swaps whose input is final: it must be in the escrow until the books show its exit. */
  held: string[]
  /** Open swaps that were finally delivered on this chain since the books were opened. */
  delivered: string[]
  /** All keys that ever sent on this chain. */
  senders: string[]
}

export async function readLedgerStart(db: Db, chainId: number): Promise<LedgerStart> {
  type Row = Omit<LedgerStart, 'cursor'> & { opened_block: string | null; block: string | null }
  const { rows } = await db.query<Row>(
    `select c.opened_block, c.block,
            array(select id from swaps where origin_chain = $1 and origin_final and ${IS_OPEN}) as held,
            array(select s.id from swaps s join ops o on o.id = s.op_id
                   where s.destination_chain = $1 and s.delivery_final and s.state in ${listOf(paidStates)}
                     and o.destination_block > c.opened_block) as delivered,
            array(select address from sender_keys where chain_id = $1) as senders
       from (select $1::bigint as chain_id) asked left join ledger_cursors c on c.chain_id = asked.chain_id`,
    [chainId],
  )
  const { opened_block: opened, block, ...start } = rows[0] ?? { held: [], delivered: [], senders: [] }
  const cursor = opened && block ? { openedBlock: BigInt(opened), block: BigInt(block) } : undefined
  return { ...start, cursor }
}

/** Opens the books of a chain. False if another process opened them. */
export async function openLedger(db: Db, { chainId, block }: { chainId: number; block: bigint }) {
  const { rowCount } = await db.query(
    `insert into ledger_cursors (chain_id, opened_block, block) values ($1, $2, $2) on conflict do nothing`,
    [chainId, block.toString()],
  )
  return rowCount === 1
}

type Advance = { chainId: number; from: bigint; to: bigint }

/** Advances the cursor. False if another process booked in the meantime: the caller rolls back. */
export async function advanceLedger(db: Db, { chainId, from, to }: Advance): Promise<boolean> {
  const { rowCount } = await db.query(
    'update ledger_cursors set block = $3, read_at = clock_timestamp() where chain_id = $1 and block = $2',
    [chainId, from.toString(), to.toString()],
  )
  return rowCount === 1
}

export type NewMovement = Transfer & {
  source: string
  part: number
  block: bigint
  kind: string
  opHash?: string
  swapId?: string
}

/** Books movements that are not booked yet, identified by source and part. Returns their number. */
export async function insertMovements(
  db: Db,
  chainId: number,
  movements: readonly NewMovement[],
): Promise<number> {
  if (movements.length === 0) return 0
  const column = <T>(of: (movement: NewMovement) => T) => movements.map(of)
  const { rowCount } = await db.query(
    `insert into ledger_movements (chain_id, source, part, block, kind, token, amount, debit, credit, op_hash, swap_id)
     select $1, m.* from unnest($2::text[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::numeric[],
                                $8::text[], $9::text[], $10::text[], $11::text[]) as m
     on conflict (chain_id, source, part) do nothing`,
    [
      chainId,
      column((m) => m.source),
      column((m) => m.part),
      column((m) => m.block.toString()),
      column((m) => m.kind),
      column((m) => m.token),
      column((m) => m.amount.toString()),
      column((m) => m.debit),
      column((m) => m.credit),
      column((m) => m.opHash ?? null),
      column((m) => m.swapId ?? null),
    ],
  )
  return rowCount ?? 0
}

/** The booked movements of these sources. */
export async function findBooked(db: Db, chainId: number, sources: readonly string[]) {
  const { rows } = await db.query<{ source: string; part: string }>(
    'select source, part from ledger_movements where chain_id = $1 and source = any($2)',
    [chainId, sources],
  )
  return rows.map(({ source, part }) => ({ source, part: Number(part) }))
}

/** The booked locks of these ops, by op hash. */
export async function findBookedLocks(
  db: Db,
  opHashes: readonly string[],
): Promise<Map<string, { token: string; amount: bigint }>> {
  const { rows } = await db.query<{ op_hash: string; token: string; amount: string }>(
    `select op_hash, token, amount from ledger_movements where kind = 'locked' and op_hash = any($1)`,
    [opHashes],
  )
  return new Map(rows.map(({ op_hash, token, amount }) => [op_hash, { token, amount: BigInt(amount) }]))
}

export type LedgerBalance = { chainId: number; token: string; account: LedgerAccount; amount: bigint }

export async function readLedgerBalances(db: Db, chainId?: number): Promise<LedgerBalance[]> {
  const { rows } = await db.query<{
    chain_id: string
    token: string
    account: LedgerAccount
    amount: string
  }>(
    'select chain_id, token, account, amount from ledger_balances where $1::bigint is null or chain_id = $1',
    [chainId],
  )
  return rows.map((row) => ({ ...row, chainId: Number(row.chain_id), amount: BigInt(row.amount) }))
}

/** Seconds since each chain was last read. */
export async function readLedgerAges(db: Db): Promise<{ chainId: number; seconds: number }[]> {
  const { rows } = await db.query<{ chain_id: string; seconds: number }>(
    `select chain_id, extract(epoch from clock_timestamp() - read_at)::float8 as seconds from ledger_cursors`,
  )
  return rows.map((row) => ({ chainId: Number(row.chain_id), seconds: row.seconds }))
}

export type OpRecord = {
  hash: string
  deliveryHash: string
  /** Absent if the op was built but never submitted: the service must not have moved money for it. */
  swapId?: string
  inputToken: string
  inputAmount: bigint
  integratorFee: bigint
  outputToken: string
  payToken: string
  payAmount: bigint
}

type OpRow = {
  hash: string
  delivery_hash: string
  swap_id: string | null
  input_token: string
  input_amount: string
  integrator_fee: string
  output_token: string
  pay_token: string
  pay_amount: string
}

/** Ops by their hash or delivery hash. */
export async function findOpRecords(db: Db, names: readonly string[]): Promise<OpRecord[]> {
  if (names.length === 0) return []
  const { rows } = await db.query<OpRow>(
    `select o.hash, o.delivery_hash, s.id as swap_id, o.input_token, o.input_amount, o.integrator_fee,
            o.output_token, o.pay_token,
            ${PAY_AMOUNT} as pay_amount
       from ops o left join swaps s on s.op_id = o.id
      where o.hash = any($1) or o.delivery_hash = any($1)`,
    [names],
  )
  return rows.map((row) => ({
    hash: row.hash,
    deliveryHash: row.delivery_hash,
    swapId: row.swap_id ?? undefined,
    inputToken: row.input_token,
    inputAmount: BigInt(row.input_amount),
    integratorFee: BigInt(row.integrator_fee),
    outputToken: row.output_token,
    payToken: row.pay_token,
    payAmount: BigInt(row.pay_amount),
  }))
}

/** The total input of the swaps among these whose exit is not booked. */
export async function sumHeldInputs(db: Db, swapIds: readonly string[]) {
  const { rows } = await db.query<{ token: string; amount: string }>(
    `select s.input_token as token, sum(s.input_amount) as amount from swaps s join ops o on o.id = s.op_id
      where s.id = any($1) and not exists (
        select 1 from ledger_movements m where m.op_hash = o.hash and m.kind in ('claimed', 'refunded'))
      group by 1`,
    [swapIds],
  )
  return rows.map(({ token, amount }) => ({ token, amount: BigInt(amount) }))
}

/** The swaps among these whose delivery is not booked. */
export async function findUnbookedDeliveries(db: Db, swapIds: readonly string[]) {
  const { rows } = await db.query<{ id: string; token: string }>(
    `select s.id, o.output_token as token from swaps s join ops o on o.id = s.op_id
      where s.id = any($1) and not exists (
        select 1 from ledger_movements m where m.op_hash = o.hash and m.kind = 'delivered')`,
    [swapIds],
  )
  return rows
}
