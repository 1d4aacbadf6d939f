import type { Db } from './db.ts'

/** The swap events that a block may contain. */
export type Expectation = {
  /** A swap waits for a transaction that was sent before this block was the head. */
  isSent: boolean
  /** At least one of those events was not seen yet. */
  isUnseen: boolean
}

// A swap that waited longer is blocked by something other than the next block.
const PATIENCE_SECONDS = 60

/** Reads which events the blocks up to this head may contain. Transactions sent at this head are in none of them. */
export async function readExpectation(
  db: Db,
  { chainId, head }: { chainId: number; head: bigint },
): Promise<Expectation> {
  const { rows } = await db.query<{ sent: boolean; unseen: boolean }>(
    `select count(*) > 0 as sent, coalesce(bool_or(unseen), false) as unseen
       from (
         select case s.state when 'locking' then s.locked_block else s.delivered_block end is null as unseen
           from swaps s
           join attempt_swaps l on l.swap_id = s.id
           join tx_attempts a on a.id = l.attempt_id
          where (s.state = 'locking' and s.origin_chain = $1 and l.role = 'lock'
                 or s.state = 'delivering' and s.destination_chain = $1 and l.role = 'deliver')
            and s.updated_at > clock_timestamp() - make_interval(secs => $3)
            and (a.request ->> 'sentAtBlock')::bigint < $2
       ) as waiting`,
    [chainId, head, PATIENCE_SECONDS],
  )
  return { isSent: rows[0]?.sent ?? false, isUnseen: rows[0]?.unseen ?? false }
}
