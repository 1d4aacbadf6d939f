import type { Pool } from 'pg'
import type { Chain, Heads, LockState } from '../chains/chain.ts'
import type { Swap } from '../model/swap.ts'
import { findEvents, rewindCursor } from '../store/chain-events.ts'
import { findOpenAfter, findUnlocked } from '../store/swaps.ts'

type Deps = { pool: Pool; chain: Pick<Chain, 'chainId' | 'readLocks'>; auditedAtOnce?: number }

/**
 * Compares the escrow's state with the stored events, in case a node left out a log. Checks the swaps that wait for
 * their lock, and in turn a part of all other open swaps. Rewinds the cursor to scan again for a missing event.
 */
export function createAudit({ pool, chain, auditedAtOnce = 1_000 }: Deps) {
  const { chainId } = chain
  let after = ''
  return async (heads: Heads, faults: unknown[]): Promise<void> => {
    const unlocked = await findUnlocked(pool, chainId)
    const others = await findOpenAfter(pool, { chainId, after, limit: auditedAtOnce })
    after = others.length < auditedAtOnce ? '' : (others.at(-1)?.id ?? '')
    await compare(unlocked, await readStates(unlocked, heads.head, faults))
    await compare(others, await readStates(others, heads.hard, faults))
  }

  async function readStates(swaps: readonly Swap[], at: Heads['head'], faults: unknown[]) {
    const ops = swaps.map(({ op }) => op)
    return ops.length > 0 ? chain.readLocks(ops, at, faults) : new Map<string, LockState>()
  }

  async function compare(swaps: readonly Swap[], states: ReadonlyMap<string, LockState>): Promise<void> {
    for (const kind of ['locked', 'claimed', 'refunded'] as const) {
      const shown = swaps.filter(({ op }) => states.get(op.hash) === kind)
      const ids = shown.map(({ op }) => op.hash)
      const known = await findEvents(pool, { chainId, kind, ids })
      const missing = shown.filter(
        ({ op, originFinal }) => !known.has(op.hash) && !(kind === 'locked' && originFinal),
      )
      const [first] = missing.map(({ op }) => op.originBlock).sort((a, b) => (a < b ? -1 : 1))
      if (first !== undefined) await rewindCursor(pool, { chainId, to: first - 1n })
    }
  }
}
