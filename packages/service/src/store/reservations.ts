import { unlockedStates } from '../model/lifecycle.ts'
import type { Reserved } from '../model/reservation.ts'
import type { Db } from './db.ts'
import { listOf } from './state-lists.ts'

// More would make a submission slow, and fewer would forget failures too soon.
const LAST_SWAPS = 50

/** Failures for which a caller is to blame. A price that moved, or a chain that is down, is not. */
const FAILED = `s.failure_code in ('INPUT_UNAVAILABLE', 'INVALID_AUTHORIZATION')`

/** The reservations of an op's token beside its own, which was made in this transaction. */
export async function readReserved(db: Db, opId: string): Promise<Reserved> {
  type Amounts = Record<'held' | 'reserved' | 'of_wallet' | 'of_account', string>
  const { rows } = await db.query<Amounts & { ended: number; failed: number }>(
    `select i.held, i.reserved, u.of_wallet, u.of_account, e.ended, e.failed
       from ops o
       join inventory i on i.chain_id = o.destination_chain and i.token = o.pay_token
      cross join lateral (
        select coalesce(sum(p.pay_amount), 0) as of_account,
               coalesce(sum(p.pay_amount) filter (where p.wallet = o.wallet), 0) as of_wallet
          from swaps s join ops p on p.id = s.op_id
         where s.account_id = o.account_id and s.state in ${listOf(unlockedStates)}
           and p.destination_chain = o.destination_chain and p.pay_token = o.pay_token
           and p.method is distinct from 'deposit') u
      cross join lateral (
        select count(*)::int as ended, (count(*) filter (where ${FAILED}))::int as failed
          from (select swap_id from account_swaps a
                 where a.account_id = o.account_id and a.status <> 'pending'
                   and a.created_at > clock_timestamp() - interval '1 hour'
                 order by a.created_at desc limit ${LAST_SWAPS}) h
          join swaps s on s.id = h.swap_id) e
      where o.id = $1`,
    [opId],
  )
  const row = rows[0]
  if (!row) throw new Error(`Op ${opId} has no inventory`)
  return {
    held: BigInt(row.held),
    reserved: BigInt(row.reserved),
    ofWallet: BigInt(row.of_wallet),
    ofAccount: BigInt(row.of_account),
    ended: row.ended,
    failed: row.failed,
  }
}
