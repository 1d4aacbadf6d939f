import type { Pool } from 'pg'
import { type Db, Outdated, unlessOutdated } from './db.ts'
import { beginWithdrawal, type Move } from './inventory.ts'

export type OwedFee = { accountId: string; account: string; chainId: number; token: string; amount: bigint }

type Row = Record<'account_id' | 'account' | 'chain_id' | 'token' | 'amount', string>

/** The fees of booked claims, less payouts that landed or may land. */
export async function readOwedFees(db: Db): Promise<OwedFee[]> {
  const { rows } = await db.query<Row>(
    `with flows as (
       select s.account_id, m.chain_id, m.token, m.amount
         from ledger_movements m join swaps s on s.id = m.swap_id where m.credit = 'integrators'
       union all
       select account_id, chain_id, token, -amount from treasury_moves
        where account_id is not null and outcome is distinct from 'failed'
     )
     select f.account_id, a.name as account, f.chain_id, f.token, sum(f.amount) as amount
       from flows f join accounts a on a.id = f.account_id
      group by 1, 2, 3, 4 order by 2, 3, 4`,
  )
  return rows.map((row) => ({
    accountId: row.account_id,
    account: row.account,
    chainId: Number(row.chain_id),
    token: row.token,
    amount: BigInt(row.amount),
  }))
}

type Place = Pick<Move, 'chainId' | 'token' | 'accountId'>

export async function readOwedTo(db: Db, { chainId, token, accountId }: Place): Promise<bigint> {
  const owed = await readOwedFees(db)
  const found = owed.find(
    (each) => each.accountId === accountId && each.chainId === chainId && each.token === token,
  )
  return found?.amount ?? 0n
}

/** The part of a vault's balance that is owed to accounts. */
export async function readHeldFees(
  db: Db,
  { chainId, token }: Pick<Place, 'chainId' | 'token'>,
): Promise<bigint> {
  const { rows } = await db.query<{ amount: string }>(
    `select amount from ledger_balances where chain_id = $1 and token = $2 and account = 'integrators'`,
    [chainId, token],
  )
  return BigInt(rows[0]?.amount ?? 0)
}

/**
 * Records the payout of a fee. False, without a change, if less is owed or free: payouts of one token wait for each
 * other at the row of its inventory, so that none is paid twice.
 */
export async function beginPayout(pool: Pool, move: Move, balance: bigint): Promise<boolean> {
  const isBegun = await unlessOutdated(pool, async (db) => {
    if (!(await beginWithdrawal(db, move, balance))) return false
    if ((await readOwedTo(db, move)) < 0n) throw new Outdated()
    return true
  })
  return isBegun ?? false
}
