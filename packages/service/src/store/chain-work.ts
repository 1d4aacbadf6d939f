import { OPEN_SENDERS } from './attempts.ts'
import { IS_DISPUTABLE } from './attestations.ts'
import type { Db } from './db.ts'
import { listOf } from './sql.ts'
import { isToPropose, WATCHED } from './swaps.ts'

// A swap that waited longer is blocked by something other than the next block.
const PATIENCE_SECONDS = 60

// A condition on states, which have indexes, and one on attempts: together they would read every swap.
const expectedBy = (condition: string) => `exists (
  select 1
    from swaps s
    join attempt_swaps l on l.swap_id = s.id
    join tx_attempts a on a.id = l.attempt_id
   where ${condition}
     and greatest(s.updated_at, a.created_at) > clock_timestamp() - make_interval(secs => $3)
     and (a.request ->> 'sentAtBlock')::bigint < $4)`

const someSwap = (condition: string) => `exists (select 1 from swaps s where ${condition})`
const someEvent = (condition: string) =>
  `exists (select 1 from chain_events e where e.chain_id = $1 and not e.final and e.block <= $5 and ${condition})`

const READ = `
  select ${expectedBy(`(s.state = 'locking' and s.origin_chain = $1 and l.role = 'lock'
               or s.state = 'delivering' and s.destination_chain = $1 and l.role = 'deliver'
               or s.state = 'claiming' and s.origin_chain = $1 and l.role = 'claim'
               or s.state = 'refunding' and s.origin_chain = $1 and l.role = 'refund')`)}
         or ${expectedBy(`l.role = 'recover' and a.chain_id = $1 and a.final_at is null`)} as "isEventExpected",
         ${someSwap(WATCHED.unlocked)} or
         exists (select 1 from swaps s join ops o on o.id = s.op_id where ${WATCHED.undeposited}) as "hasUnlocked",
         ${someSwap(WATCHED.undelivered)} or ${someSwap(WATCHED.forgotten)} as "hasUndelivered",
         ${someSwap(WATCHED.paidUnlocked)} as "hasPaidUnlocked",
         ${someEvent(`e.kind <> 'recovered'`)} as "hasFinal", ${someEvent(`e.kind = 'recovered'`)} as "hasRecoveries",
         ${someSwap(`s.origin_chain = $1 and s.state in ${listOf(['claiming', 'refunding'])}`)} as "hasExits",
         exists (${OPEN_SENDERS} select 1 from senders where sender <> all($6)) as "hasAbandoned"`

/** The work that the watch of a chain has at a head. At most heads there is none. */
export type ChainWork = {
  /** A swap waits for the event of a transaction that was sent before this block was the head. */
  isEventExpected: boolean
  hasUnlocked: boolean
  hasUndelivered: boolean
  hasPaidUnlocked: boolean
  /** Stored events are final now, of inputs and outputs, and of what was sent back. */
  hasFinal: boolean
  hasRecoveries: boolean
  /** Claims or refunds are sent. */
  hasExits: boolean
  /** Keys that are no longer configured have open attempts. */
  hasAbandoned: boolean
}

type At = {
  chainId: number
  head: bigint
  hard: { number: bigint; seconds: number }
  senders: readonly string[]
}

/** One statement instead of one for each kind of work. */
export async function readChainWork(db: Db, { chainId, head, hard, senders }: At): Promise<ChainWork> {
  const values = [chainId, hard.seconds, PATIENCE_SECONDS, head, hard.number, senders]
  const { rows } = await db.query<ChainWork>(READ, values)
  if (!rows[0]) throw new Error('The database did not say what waits')
  return rows[0]
}

const READ_SETTLING = `
  select ${someSwap(isToPropose('claim', '$1'))} as "hasClaims",
         ${someSwap(isToPropose('refund', '$1'))} as "hasRefunds",
         exists (select 1 from attestations where chain_id = $1 and ${IS_DISPUTABLE}) as "mayBeDisputed"`

/** The outcomes of a chain that are to be proposed to the attesters. */
type SettleWork = { hasClaims: boolean; hasRefunds: boolean; mayBeDisputed: boolean }

export async function readSettleWork(db: Db, chainId: number): Promise<SettleWork> {
  const { rows } = await db.query<SettleWork>(READ_SETTLING, [chainId])
  if (!rows[0]) throw new Error('The database did not say what is to be settled')
  return rows[0]
}
