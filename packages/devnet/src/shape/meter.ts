import type { MeterRow } from './control-methods.ts'
import { ALCHEMY_UNITS, costIn, INFURA_CREDITS } from './price-lists.ts'

type Count = Omit<MeterRow, 'alchemyUnits' | 'infuraCredits'>
type Measured = { client: string; method: string }

export type Meter = ReturnType<typeof createMeter>

/** Counts calls and bytes by client and method. A batch counts as its calls. */
export function createMeter() {
  const counts = new Map<string, Count>()

  function countOf({ client, method }: Measured): Count {
    const key = `${client} ${method}`
    const known = counts.get(key)
    if (known) return known
    const fresh = { client, method, calls: 0, refused: 0, requestBytes: 0, replyBytes: 0 }
    counts.set(key, fresh)
    return fresh
  }

  return {
    record(measured: Measured, requestBytes: number, replyBytes: number): void {
      const count = countOf(measured)
      count.calls += 1
      count.requestBytes += requestBytes
      count.replyBytes += replyBytes
    },
    recordRefusal(measured: Measured): void {
      countOf(measured).refused += 1
    },
    read(): MeterRow[] {
      return [...counts.values()].map((count) => ({
        ...count,
        alchemyUnits: costIn(ALCHEMY_UNITS, count),
        infuraCredits: costIn(INFURA_CREDITS, count),
      }))
    },
    reset: () => counts.clear(),
  }
}

/** Each further node of a chain meters and limits a client by itself. */
export function nameOfClient(searchParams: URLSearchParams, userAgent = 'unknown'): string {
  const node = searchParams.get('node')
  return `${searchParams.get('client') ?? userAgent}${node === null ? '' : `#${node}`}`
}
