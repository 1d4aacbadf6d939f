import type { MeterRow } from '../../shape/control-methods.ts'

/** One client and method since the last reset, also in the units of two public price lists. */
export type SolanaMeterRow = Omit<MeterRow, 'alchemyUnits' | 'infuraCredits'> & {
  quicknodeCredits: number
  ankrCredits: number
}

// Both price every method of Solana that is here alike:
// https://www.quicknode.com/api-credits/sol and https://www.ankr.com/docs/rpc-service/pricing.
const QUICKNODE_CREDITS = 30
const ANKR_CREDITS = 500

export type Exchange = { client: string; methods: readonly string[]; requestBytes: number }
export type Meter = ReturnType<typeof createMeter>

/** Counts what each client asks. The bytes of a batch are shared out among its calls. */
export function createMeter() {
  const rows = new Map<string, SolanaMeterRow>()

  function rowOf(client: string, method: string): SolanaMeterRow {
    const key = `${client}\n${method}`
    const none = { calls: 0, refused: 0, requestBytes: 0, replyBytes: 0, quicknodeCredits: 0, ankrCredits: 0 }
    const row = rows.get(key) ?? { client, method, ...none }
    rows.set(key, row)
    return row
  }

  return {
    answered({ client, methods, requestBytes }: Exchange, replyBytes: number): void {
      for (const method of methods) {
        const row = rowOf(client, method)
        row.calls += 1
        row.requestBytes += Math.round(requestBytes / methods.length)
        row.replyBytes += Math.round(replyBytes / methods.length)
        row.quicknodeCredits += QUICKNODE_CREDITS
        row.ankrCredits += ANKR_CREDITS
      }
    },
    refused({ client, methods }: Exchange): void {
      for (const method of methods) rowOf(client, method).refused += 1
    },
    read: (): SolanaMeterRow[] => [...rows.values()],
    reset: (): void => rows.clear(),
  }
}
