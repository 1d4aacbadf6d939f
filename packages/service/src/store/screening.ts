import type { Db } from './db.ts'

export type OverrideVerdict = 'allow' | 'deny' | 'lists'
export type Override = {
  id: string
  at: Date
  verdict: OverrideVerdict
  address: string
  reason: string
  author: string
}

type DeniedRow = {
  point: string
  role: string
  address: string
  chainId: number
  reason: string
  list: string
  version: string
  accountId?: string
  swapId?: string
}

/** Adds a denial to the log; for a swap once, however often it is decided again. */
export async function insertDenial(db: Db, denied: DeniedRow): Promise<void> {
  const { point, role, address, chainId, reason, list, version, accountId, swapId } = denied
  await db.query(
    `insert into screening_denials (point, role, address, chain_id, reason, list, version, account_id, swap_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
     on conflict do nothing`,
    [point, role, address, chainId, reason, list, version, accountId ?? null, swapId ?? null],
  )
}

/** The last decision of the operator on each address, without those that were withdrawn. */
export async function findOverrides(db: Db): Promise<Override[]> {
  const { rows } = await db.query<Override>(
    `select id, at, verdict, address, reason, author from (
       select distinct on (address) * from screening_overrides order by address, id desc) o
      where verdict <> 'lists' order by id`,
  )
  return rows
}

export async function insertOverride(db: Db, override: Omit<Override, 'id' | 'at'>): Promise<void> {
  const { verdict, address, reason, author } = override
  await db.query(
    'insert into screening_overrides (verdict, address, reason, author) values ($1, $2, $3, $4)',
    [verdict, address, reason, author],
  )
}

/** Deletes denials that are older, a year at least. Returns their number. */
export async function clearDenials(
  db: Db,
  { days, limit }: { days: number; limit: number },
): Promise<number> {
  const { rows } = await db.query<{ cleared: number }>('select clear_screening_denials($1, $2) as cleared', [
    days,
    limit,
  ])
  return rows[0]?.cleared ?? 0
}
