import type { Db } from './db.ts'
import { IS_OPEN } from './open-states.ts'

/** The block from which this chain's events matter: where its oldest open swap was built. */
export async function oldestOpenBlock(db: Db, chainId: number): Promise<bigint | undefined> {
  const { rows } = await db.query<{ block: string | null }>(
    `select min(case when s.origin_chain = $1 then o.origin_block else o.destination_block end) as block
       from swaps s join ops o on o.id = s.op_id
      where s.${IS_OPEN} and $1 in (s.origin_chain, s.destination_chain)`,
    [chainId],
  )
  const block = rows[0]?.block
  return block ? BigInt(block) : undefined
}
