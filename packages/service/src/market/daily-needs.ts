import type { Pool } from 'pg'
import { createRecent } from '../async/recent.ts'
import { divideUp } from '../model/amount.ts'
import { MARGIN_BPS, neededOf } from '../model/rebalance.ts'
import { type Flow, readPaidOut, readTakenIn } from '../store/flows.ts'

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
