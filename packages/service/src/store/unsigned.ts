import type { Db } from './db.ts'

/** Notes whether the stored terms of a swap are not those that its wallet signed. */
export async function markUnsigned(db: Db, swapId: string, isUnsigned: boolean): Promise<void> {
  await db.query('update swaps set is_unsigned = $2 where id = $1', [swapId, isUnsigned])
}

export async function countUnsigned(db: Db): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    'select count(*)::int as count from swaps where is_unsigned',
  )
  return rows[0]?.count ?? 0
}
