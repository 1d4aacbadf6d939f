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

/** Whether a stored op has this address. Addresses of one op are equal on all EVM chains. */
export async function isDepositAddress(db: Db, address: string): Promise<boolean> {
  const { rowCount } = await db.query('select 1 from ops where deposit_address = $1 limit 1', [address])
  return rowCount === 1
}

type Paid = { id: string; received: string; txHash: string }

/** Adds the transaction of this amount, wherever the swap is now. */
export async function setDepositTx(db: Db, { id, received, txHash }: Paid): Promise<void> {
  await db.query(
    `update swaps set deposit = deposit || jsonb_build_object('txHash', $3::text), updated_at = clock_timestamp()
      where id = $1 and deposit ->> 'received' = $2`,
    [id, received, txHash],
  )
}

/** Notes the one try to send this token back from the address of an op. False if there was one before. */
export async function noteTry(db: Db, { id }: Pick<Swap, 'id'>, token: string): Promise<boolean> {
  const { rowCount } = await db.query(
    'insert into recover_tries (swap_id, token) values ($1, $2) on conflict do nothing',
    [id, token],
  )
  return rowCount === 1
}

/** The tokens that were tried, by swap. */
export async function findTried(db: Db, swaps: readonly Swap[]): Promise<Map<string, Set<string>>> {
  const { rows } = await db.query<{ id: string; tokens: string[] }>(
    `select swap_id as id, array_agg(token) as tokens from recover_tries where swap_id = any($1) group by 1`,
    [swaps.map(({ id }) => id)],
  )
  return new Map(rows.map(({ id, tokens }) => [id, new Set(tokens)]))
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
