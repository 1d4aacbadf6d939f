import type { Pool } from 'pg'
import { atMostEvery } from '../async/timing.ts'
import type { Chain, Heads } from '../chains/chain.ts'
import { type ProposeDeps, proposeOutcomes } from '../flow/settle/propose.ts'
import { releaseDeferred } from '../flow/settle/relay.ts'
import type { Task } from '../lanes/lane.ts'

const PROPOSE_MS = 500
// The longest wait of deferred claims after an hour of their cap has ended.
const DEFERRED_LOOK_MS = 5_000

type Parts = Omit<ProposeDeps, 'pool' | 'origin'> & {
  pool: Pool
  chain: Chain
  current(): Heads | undefined
}

/** Proposes outcomes to the attesters, and releases claims that the cap of an earlier hour deferred. */
export function createSettleTasks({ pool, chain, current, ...deps }: Parts): Task[] {
  const propose = atMostEvery(PROPOSE_MS, (heads: Heads) =>
    proposeOutcomes({ pool, origin: chain, ...deps }, heads),
  )
  const release = atMostEvery(DEFERRED_LOOK_MS, (heads: Heads) =>
    releaseDeferred({ pool, origin: chain }, heads),
  )
  const taskOf = (topics: readonly string[], work: (heads: Heads) => Promise<void>): Task => ({
    topics,
    async step() {
      const heads = current()
      if (heads) await work(heads)
    },
  })
  return [taskOf([`head:${chain.chainId}`], propose), taskOf([], release)]
}
