import type { Heads } from '../chains/chain.ts'
import type { DeliverDeps } from '../flow/deliver/deliver.ts'
import { sweepMarkers } from '../flow/deliver/sweep.ts'
import type { Lease } from '../store/lanes.ts'
import type { SolanaOrigin } from './connected-chain.ts'

// Markers wait for days: it does not matter when they are closed.
const IDLE_MS = 60_000
// Sweeps are final after some seconds. Then the next ones follow, so that markers do not pile up.
const BUSY_MS = 2_000

/** Returns the rent of deliveries' markers. */
export function sweepWork(chainId: number, { pool, sender }: DeliverDeps, solana: SolanaOrigin) {
  const { sweepMarginSeconds: marginSeconds, findSweepable } = solana
  const deps = { pool, sender, chainId, marginSeconds, findSweepable }
  let due = 0
  let next: number | undefined
  return {
    topics: [],
    // A new sender has no room until it knows what is in flight; the first sweep follows at once.
    run: async (lease: Lease, heads?: Heads) => {
      const now = performance.now()
      if (!heads || sender.room() === 0 || now < due) return true
      const swept = await sweepMarkers(deps, lease, heads, next)
      next = swept.next
      due = now + (swept.isBusy ? BUSY_MS : IDLE_MS)
      return true
    },
  }
}
