import { atMostEvery } from '../async/timing.ts'
import type { Heads } from '../chains/chain.ts'
import type { DeliverDeps } from '../flow/deliver/deliver.ts'
import { sweepMarkers } from '../flow/deliver/sweep.ts'
import type { Lease } from '../store/lanes.ts'
import type { SolanaOrigin } from './connected-chain.ts'

// Markers wait for days: it does not matter when they are closed.
const SWEEP_MS = 60_000

/** Returns the rent of deliveries' markers. */
export function sweepWork(chainId: number, { pool, sender }: DeliverDeps, solana: SolanaOrigin) {
  const { sweepMarginSeconds: marginSeconds, findSweepable } = solana
  const deps = { pool, sender, chainId, marginSeconds, findSweepable }
  const sweep = atMostEvery(SWEEP_MS, (lease: Lease, heads: Heads) => sweepMarkers(deps, lease, heads))
  return {
    topics: [],
    // A new process does not know at first what is in flight; it then looks at once.
    run: async (lease: Lease, heads?: Heads) => {
      if (heads && sender.room() > 0) await sweep(lease, heads)
    },
  }
}
