import { paidStates, refundDueStates } from '../model/lifecycle.ts'
import type { Db } from './db.ts'
import { IS_OPEN, listOf } from './state-lists.ts'

/** A refused refund may stay forever, and a delivered swap with a final lock only waits for its claim. */
const AWAITS_ORIGIN = `s.state <> 'refundBlocked' and not (s.state in ${listOf(paidStates)} and s.origin_final)`
const AWAITS_DELIVERY = `s.state not in ${listOf(refundDueStates)} and not s.delivery_final`

/** The first block whose events matter: the build block of the oldest swap that waits for an event of this chain. */
export async function oldestOpenBlock(db: Db, chainId: number): Promise<bigint | undefined> {
  const { rows } = await db.query<{ block: string | null }>(
    `select least(
       (select min(o.origin_block) from swaps s join ops o on o.id = s.op_id
         where s.${IS_OPEN} and s.origin_chain = $1 and ${AWAITS_ORIGIN}),
       (select min(o.destination_block) from swaps s join ops o on o.id = s.op_id
         where s.${IS_OPEN} and s.destination_chain = $1 and ${AWAITS_DELIVERY})) as block`,
    [chainId],
  )
  const block = rows[0]?.block
  return block ? BigInt(block) : undefined
}
