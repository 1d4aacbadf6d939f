import type { DepositFacts } from '../model/deposit.ts'
import type { Swap } from '../model/swap.ts'
import type { Db } from './db.ts'
import { toJson } from './json.ts'
import { selectSwaps } from './swap-rows.ts'

/** Records what lies at the address of a swap that waits for its deposit, unless the swap has moved. */
export async function setDeposit(db: Db, { id, version }: Swap, deposit: DepositFacts): Promise<void> {
  await db.query(
    `update swaps set deposit = $3, updated_at = clock_timestamp() where id = $1 and version = $2
        and state = 'awaitingDeposit'`,
    [id, version, toJson(deposit)],
  )
}

/** The swap with this deadline and id. */
export type PastPlace = { opDeadline: number; id: string }
type Past = { chainId: number; seconds: number; after: PastPlace; limit: number }

/**
 * The next swaps by deposit whose deadline passed before this time of the chain, without those that have a transaction
 * in flight which sends something back.
 */
export async function findPastDeposits(db: Db, { chainId, seconds, after, limit }: Past): Promise<Swap[]> {
  const inFlight = `select 1 from attempt_swaps l join tx_attempts a on a.id = l.attempt_id
                     where l.swap_id = s.id and l.role = 'recover' and a.final_at is null`
  return selectSwaps(
    db,
    `where o.method = 'deposit' and o.origin_chain = $1 and o.op_deadline < $2
       and (o.op_deadline, s.id) > ($3, $4)
       and s.state <> 'awaitingDeposit' and not exists (${inFlight})
     order by o.op_deadline, s.id limit $5`,
    [chainId, seconds, after.opDeadline, after.id, limit],
  )
}
