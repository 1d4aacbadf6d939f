import type { ChainEvent } from '../../chains/chain.ts'
import { failPoint } from '../../fail-point.ts'
import type { Swap } from '../../model/swap.ts'
import type { Db } from '../../store/db.ts'
import { advanceSwap, findSwapsByOp } from '../../store/swaps.ts'

/** Moves swaps back to `locking` if a reorg undid their lock and nothing was paid for them. */
export async function undoLocks(
  db: Db,
  gone: readonly ChainEvent[],
  onMoved: (swap: Swap, event: string) => void,
): Promise<void> {
  const hashes = gone.filter(({ kind }) => kind === 'locked').map(({ id }) => id)
  for (const swap of await findSwapsByOp(db, hashes)) {
    failPoint('before lockLost')
    const moved = await advanceSwap(db, { swap, event: 'lockLost' })
    if (moved) onMoved(moved, 'lockLost')
  }
}
