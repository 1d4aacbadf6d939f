import type { Db } from './db.ts'

/** Which events of swaps a block may have. */
export type Expectation = {
  /** A swap waits for what was sent before this block was the newest. */
  isSent: boolean
  /** The event of one of them was not seen yet. */
  isUnseen: boolean
}

// A swap that has waited longer waits for something else than the next block.
const PATIENCE_SECONDS = 60

/** Says which events the blocks up to this head may have. None has a transaction that was sent at this head. */
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
