import type { Db } from './db.ts'

/** Records whether the stored terms of a swap differ from the signed ones. */
export async function markUnsigned(db: Db, swapId: string, isUnsigned: boolean): Promise<void> {
  await db.query('update swaps set is_unsigned = $2 where id = $1', [swapId, isUnsigned])
}

export async function countUnsigned(db: Db): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    'select count(*)::int as count from swaps where is_unsigned',
  )
  return rows[0]?.count ?? 0
}
