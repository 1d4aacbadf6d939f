import type { Pool } from 'pg'
import { createRecent } from '../async/cache.ts'
import { readSwapTimes } from '../store/ended-swaps.ts'
import { type Flow, readPaidOut, readTakenIn } from '../store/figures.ts'
import { divideUp } from '../swap/amount.ts'
import type { CatalogChain } from '../swap/catalog.ts'
import { measuredEtaSeconds, plannedEtaSeconds } from '../swap/eta.ts'
import { expectedHardSeconds } from '../swap/finality.ts'
import { MARGIN_BPS, neededOf } from '../swap/rebalance.ts'

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

// Long enough that one odd day does not decide, and that an empty vault still counts after the flow stopped.
const DAYS = 3
// The daily flow changes little in ten minutes, and is expensive to sum up with many swaps.
const KEPT_MS = 600_000

/** A token's need on an average recent day, as `inventory plan` computes it. */
export type DailyNeeds = (chainId: number, token: string) => bigint

export function createDailyNeeds(pool: Pool): { read(): Promise<DailyNeeds> } {
  return createRecent(KEPT_MS, async () => {
    const [paid, taken] = [await readPaidOut(pool, DAYS), await readTakenIn(pool, DAYS)]
    return (chainId, token) => {
      const sumOf = (flows: readonly Flow[]) =>
        flows.find((flow) => flow.chainId === chainId && flow.token === token)?.amount ?? 0n
      return divideUp(neededOf({ paidOut: sumOf(paid), takenIn: sumOf(taken) }, MARGIN_BPS), BigInt(DAYS))
    }
  })
}
