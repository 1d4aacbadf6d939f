import type { Watched } from '../chains/chain.ts'
import { owedStates, refundDueStates } from '../model/lifecycle.ts'
import type { Swap } from '../model/swap.ts'
import type { Db } from './db.ts'
import { listOf } from './state-lists.ts'
import { selectSwaps } from './swap-rows.ts'

/** Swaps that a chain without event logs has to be asked about, because a transaction of theirs is in flight. */
export async function findWatched(db: Db, chainId: number): Promise<Watched> {
  const find = (condition: string) => selectSwaps(db, `where ${condition}`, [chainId])
  const [locks, exits, deliveries] = await Promise.all([
    find(
      `s.origin_chain = $1 and not s.origin_final and s.state in ('locking', 'locked', 'delivering', 'settled')`,
    ),
    find(`s.origin_chain = $1 and s.state in ${listOf(['claiming', ...refundDueStates])}`),
    find(`s.destination_chain = $1 and not s.delivery_final and s.state in ${listOf(owedStates)}`),
  ])
  return { locks: locks.map(opOf), exits: exits.map(opOf), deliveries: deliveries.map(opOf) }
}

const opOf = ({ op }: Swap) => op
