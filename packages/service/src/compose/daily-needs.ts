import type { Pool } from 'pg'
import { createRecent } from '../http/recent.ts'
import { divideUp } from '../model/amount.ts'
import { MARGIN_BPS, neededOf } from '../model/rebalance.ts'
import { type Flow, readPaidOut, readTakenIn } from '../store/flows.ts'

// Long enough that one odd day does not decide, and that a dry vault is still told about when nothing flows any more.
const DAYS = 3
// The flow of days is much the same ten minutes later, and with many swaps not cheap to add up.
const KEPT_MS = 600_000

/** What a day like the last ones needs of a token, by the reckoning of `inventory plan`. */
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
