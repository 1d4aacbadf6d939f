import type { Pool } from 'pg'
import type { CatalogChain } from '../model/catalog.ts'
import { measuredEtaSeconds, plannedEtaSeconds } from '../model/eta.ts'
import { expectedHardSeconds } from '../model/finality.ts'
import { readSwapTimes } from '../store/swap-times.ts'

type Views = { of(chainId: number): { measured(): { finalitySeconds?: number } } }

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
