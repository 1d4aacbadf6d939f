import type { Pool } from 'pg'
import { finalityOf } from '../config/finality.ts'
import type { Task } from '../lanes/runner.ts'
import type { ViewOfChain } from '../lanes/views.ts'
import type { CatalogChain } from '../model/catalog.ts'
import { measuredEtaSeconds, plannedEtaSeconds } from '../model/eta.ts'
import { acceptDepthOf, expectedHardSeconds } from '../model/finality.ts'
import type { Swap } from '../model/swap.ts'
import { addSwapTimes, readSwapTimes, type SettledSwap } from '../store/swap-times.ts'
import type { Chains } from './chains.ts'

/** Records the durations of swaps in the background. A crash loses the last ones. */
export function createTimeKeeper(pool: Pool, chains: Pick<Chains, 'of'>) {
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
    const rules = finalityOf(chains.of(op.originChain).config)
    // A swap without exposure was delivered after its input was final.
    const depth = exposedCents > 0n ? acceptDepthOf(rules, op.valueCents) : rules.hard
    settled.push({ swapId: id, depth })
  }
  const noteAfter = (report: (swap: Swap) => void) => (swap: Swap) => {
    report(swap)
    note(swap)
  }
  return { noteAfter, task }
}

type Views = { of(chainId: number): Pick<ViewOfChain, 'measured'> }

/** Expected durations of a route: from its last swaps, or from its chains if there are too few. */
export function followSwapTimes(pool: Pool, views: Views) {
  let etas = new Map<string, number>()
  const endOf = (chain: CatalogChain) => {
    const { finality, blockSeconds, chainId } = chain
    const hardSeconds = expectedHardSeconds(
      finality.hardSeconds,
      views.of(chainId).measured().finalitySeconds,
    )
    return { finality: { ...finality, hardSeconds }, blockSeconds }
  }
  return {
    async refresh(): Promise<void> {
      const times = await readSwapTimes(pool)
      etas = new Map(
        times.flatMap(({ originChain, destinationChain, depth, durationsMs }) => {
          const eta = measuredEtaSeconds(durationsMs)
          return eta === undefined ? [] : [[keyOf(originChain, destinationChain, depth), eta] as const]
        }),
      )
    },
    etaSecondsOf: (origin: CatalogChain, destination: CatalogChain, depth: number): number =>
      etas.get(keyOf(origin.chainId, destination.chainId, depth)) ??
      plannedEtaSeconds(endOf(origin), endOf(destination), depth),
  }
}

const keyOf = (origin: number, destination: number, depth: number) => `${origin}:${destination}:${depth}`
