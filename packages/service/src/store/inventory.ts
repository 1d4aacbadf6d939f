import type { Db } from './db.ts'

export type Holding = { chainId: number; token: string; held: bigint; reserved: bigint }

export async function readInventory(db: Db): Promise<Holding[]> {
  const { rows } = await db.query<HoldingRow>('select chain_id, token, held, reserved from inventory')
  return rows.map(toHolding)
}

export type HoldingRow = Record<'chain_id' | 'token' | 'held' | 'reserved', string>

export const toHolding = (row: HoldingRow): Holding => ({
  chainId: Number(row.chain_id),
  token: row.token,
  held: BigInt(row.held),
  reserved: BigInt(row.reserved),
})

type Balance = { token: string; amount: bigint }

/** Stores the vault's balances as of a block. An older block changes nothing. */
export async function setHoldings(db: Db, at: { chainId: number; block: bigint }, balances: Balance[]) {
  await db.query(
    `insert into inventory as i (chain_id, token, held, at_block)
     select $1, token, held, $2 from unnest($3::text[], $4::numeric[]) as seen (token, held) order by token
     on conflict (chain_id, token) do update set held = excluded.held, at_block = excluded.at_block
      where i.at_block <= excluded.at_block`,
    [
      at.chainId,
      at.block.toString(),
      balances.map((balance) => balance.token),
      balances.map((balance) => balance.amount.toString()),
    ],
  )
}

/** Identifies a move. It happens once: `once` is the sender's nonce, or its substitute on chains without nonces. */
export type MoveName = { chainId: number; sender: string; once: string }
export type Move = MoveName & {
  kind: 'deposit' | 'withdraw'
  token: string
  recipient: string
  amount: bigint
  /** The account whose fees a withdrawal pays out; undefined for the operator's own. */
  accountId?: string | undefined
}
export type MoveOutcome = 'landed' | 'failed'
export type RecordedMove = Move & { txHashes: string[]; outcome: MoveOutcome | undefined }

type Row = Record<'chain_id' | 'sender' | 'once' | 'token' | 'recipient' | 'amount', string> & {
  kind: Move['kind']
  account_id: string | null
  tx_hashes: string[]
  outcome: MoveOutcome | null
}

const COLUMNS = 'chain_id, sender, once, kind, token, recipient, amount, account_id, tx_hashes, outcome'

export async function findMove(
  db: Db,
  { chainId, sender, once }: MoveName,
): Promise<RecordedMove | undefined> {
  const { rows } = await db.query<Row>(
    `select ${COLUMNS} from treasury_moves where chain_id = $1 and sender = $2 and once = $3`,
    [chainId, sender, once],
  )
  return rows[0] && toMove(rows[0])
}

/** `payout`: of fees that an account added. */
export type Withdrawal = 'own' | 'payout'

/** The transactions among these that were signed for withdrawals. */
export async function findWithdrawals(
  db: Db,
  chainId: number,
  txHashes: readonly string[],
): Promise<Map<string, Withdrawal>> {
  if (txHashes.length === 0) return new Map()
  const { rows } = await db.query<{ tx_hash: string; kind: Withdrawal }>(
    `select tx_hash, case when account_id is null then 'own' else 'payout' end as kind
       from treasury_moves, unnest(tx_hashes) as tx_hash
      where chain_id = $1 and kind = 'withdraw' and tx_hash = any($2)`,
    [chainId, txHashes],
  )
  return new Map(rows.map((row) => [row.tx_hash, row.kind]))
}

export async function findOpenMoves(db: Db): Promise<RecordedMove[]> {
  const { rows } = await db.query<Row>(
    `select ${COLUMNS} from treasury_moves where outcome is null order by created_at`,
  )
  return rows.map(toMove)
}

/** The part of `balance` that neither accepted swaps nor other withdrawals have reserved. */
export async function readFree(
  db: Db,
  { chainId, token }: Pick<Move, 'chainId' | 'token'>,
  balance: bigint,
): Promise<bigint> {
  const { rows } = await db.query<{ reserved: string }>(
    'select reserved from inventory where chain_id = $1 and token = $2',
    [chainId, token],
  )
  const free = balance - BigInt(rows[0]?.reserved ?? 0)
  return free > 0n ? free : 0n
}

/** Records a withdrawal and reserves its amount. False, without a change, if less is free. */
export async function beginWithdrawal(db: Db, move: Move, balance: bigint): Promise<boolean> {
  const { rowCount } = await db.query(
    `with taken as (
       update inventory set reserved = reserved + $7
        where chain_id = $1 and token = $5 and reserved + $7 <= $8
       returning 1
     )
     insert into treasury_moves (chain_id, sender, once, kind, token, recipient, amount, account_id)
     select $1, $2, $3, $4, $5, $6, $7, $9 from taken`,
    [...valuesOf(move), balance.toString(), move.accountId],
  )
  return rowCount === 1
}

export async function beginDeposit(db: Db, move: Move): Promise<void> {
  await db.query(
    `insert into treasury_moves (chain_id, sender, once, kind, token, recipient, amount)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    valuesOf(move),
  )
}

/** Records a transaction of the move. Must precede its broadcast. */
export async function recordMoveTx(db: Db, { chainId, sender, once }: MoveName, txHash: string) {
  await db.query(
    `update treasury_moves set tx_hashes = tx_hashes || $4::text
      where chain_id = $1 and sender = $2 and once = $3`,
    [chainId, sender, once, txHash],
  )
}

/** Records the final outcome and releases the reservation. Repeatable. */
export async function endMove(db: Db, { chainId, sender, once }: MoveName, outcome: MoveOutcome) {
  await db.query(
    `with ended as (
       update treasury_moves set outcome = $4
        where chain_id = $1 and sender = $2 and once = $3 and outcome is null
       returning chain_id, kind, token, amount
     )
     update inventory i set reserved = i.reserved - e.amount
       from ended e where e.kind = 'withdraw' and i.chain_id = e.chain_id and i.token = e.token`,
    [chainId, sender, once, outcome],
  )
}

function valuesOf({ chainId, sender, once, kind, token, recipient, amount }: Move) {
  return [chainId, sender, once, kind, token, recipient, amount.toString()]
}

function toMove(row: Row): RecordedMove {
  return {
    chainId: Number(row.chain_id),
    sender: row.sender,
    once: row.once,
    kind: row.kind,
    token: row.token,
    recipient: row.recipient,
    amount: BigInt(row.amount),
    accountId: row.account_id ?? undefined,
    txHashes: row.tx_hashes,
    outcome: row.outcome ?? undefined,
  }
}
