import type { Pool } from 'pg'
import { acceptDepthOf, type FinalityRules } from '../model/finality.ts'
import type { Swap } from '../model/swap.ts'
import { addSwapTimes, type SettledSwap } from '../store/swap-times.ts'
import type { Task } from './lane.ts'

/** Records the durations of settled swaps in the background. A crash loses the last ones. */
export function createTimeKeeper(pool: Pool, rulesOf: (chainId: number) => FinalityRules) {
  let settled: SettledSwap[] = []
  const task: Task = {
    topics: [],
    async step() {
      const noted = settled
      settled = []
      await addSwapTimes(pool, noted)
    },
  }
  function note({ id, op, exposedCents }: Swap): void {
    const rules = rulesOf(op.originChain)
    // A swap without exposure was delivered after its input was final.
    const depth = exposedCents > 0n ? acceptDepthOf(rules, op.valueCents) : rules.hard
    settled.push({ swapId: id, depth })
  }
  return { note, task }
}
