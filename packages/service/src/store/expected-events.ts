import type { Db } from './db.ts'

// A swap that waited longer is blocked by something other than the next block.
const PATIENCE_SECONDS = 60

// A condition on states, which have indexes, and one on attempts: together they would read every swap.
const existsFrom = (condition: string) => `exists (
  select 1
    from swaps s
    join attempt_swaps l on l.swap_id = s.id
    join tx_attempts a on a.id = l.attempt_id
   where ${condition}
     and greatest(s.updated_at, a.created_at) > clock_timestamp() - make_interval(secs => $3)
     and (a.request ->> 'sentAtBlock')::bigint < $2)`

/** Whether a swap waits for the event of a transaction that was sent before this block was the head. */
export async function isEventExpected(
  db: Db,
  { chainId, head }: { chainId: number; head: bigint },
): Promise<boolean> {
  const { rows } = await db.query<{ expected: boolean }>(
    `select ${existsFrom(`(s.state = 'locking' and s.origin_chain = $1 and l.role = 'lock'
               or s.state = 'delivering' and s.destination_chain = $1 and l.role = 'deliver'
               or s.state = 'claiming' and s.origin_chain = $1 and l.role = 'claim'
               or s.state = 'refunding' and s.origin_chain = $1 and l.role = 'refund')`)}
         or ${existsFrom(`l.role = 'recover' and a.chain_id = $1 and a.final_at is null`)} as expected`,
    [chainId, head, PATIENCE_SECONDS],
  )
  return rows[0]?.expected === true
}
