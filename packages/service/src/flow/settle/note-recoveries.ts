import type { Pool } from 'pg'
import type { Heads } from '../../chains/chain.ts'
import { isolate } from '../../isolate.ts'
import { findFinalRecoveries, noteRecovery } from '../../store/recoveries.ts'

type Deps = { pool: Pool; chainId: number }

// More wait for the next head: a swap does not.
const NOTED_AT_ONCE = 100

/** Tells swaps what went back from the addresses of their ops to their wallets, in hard-final blocks. */
export async function noteRecoveries(
  { pool, chainId }: Deps,
  { hard }: Pick<Heads, 'hard'>,
  faults: unknown[],
): Promise<void> {
  const events = await findFinalRecoveries(pool, { chainId, hard: hard.number, limit: NOTED_AT_ONCE })
  for (const event of events)
    await isolate(faults, { step: 'note recovery', id: `${chainId} ${event.id}` }, () =>
      noteRecovery(pool, chainId, event),
    )
}
