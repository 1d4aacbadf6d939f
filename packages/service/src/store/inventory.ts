import type { Db } from './db.ts'

export type Holding = { chainId: number; token: string; held: bigint; reserved: bigint }

export async function readInventory(db: Db): Promise<Holding[]> {
  const { rows } = await db.query<Record<'chain_id' | 'token' | 'held' | 'reserved', string>>(
    'select chain_id, token, held, reserved from inventory',
  )
  return rows.map((row) => ({
    chainId: Number(row.chain_id),
    token: row.token,
    held: BigInt(row.held),
    reserved: BigInt(row.reserved),
  }))
}

type Balance = { token: string; amount: bigint }

/** Stores the vault's balances as of a block. An older block changes nothing. */
export async function setHoldings(db: Db, at: { chainId: number; block: bigint }, balances: Balance[]) {
  await db.query(
    `insert into inventory as i (chain_id, token, held, at_block)
     select $1, token, held, $2 from unnest($3::text[], $4::numeric[]) as seen (token, held)
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
