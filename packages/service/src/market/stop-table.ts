import { type QuoteStop, type SwapSide, stopsSide, stopsSwap } from '../model/stop.ts'

export type StopTable = {
  /** A stop that is about a swap between these two, if there is one. */
  ofSwap(swap: { from: SwapSide; to: SwapSide }): QuoteStop | undefined
  /** One that is about a side, whatever the other is: a chain as a whole, or a token of it. */
  ofSide(side: { chainId: number; asset?: string }): QuoteStop | undefined
  refresh(): Promise<void>
  start(): Promise<void>
  close(): void
}

type Options = {
  findActiveStops(): Promise<QuoteStop[]>
  onError(error: unknown): void
  pollMs?: number
}

/**
 * All active stops in memory, so that a quote asks nobody. Read again on notification, and every `pollMs` in case
 * one was lost.
 */
export function createStopTable({ findActiveStops, onError, pollMs = 2_000 }: Options): StopTable {
  let stops: readonly QuoteStop[] = []
  let begun = 0
  let shown = 0
  let timer: NodeJS.Timeout | undefined

  /** A read that began earlier may end later: what it found is older. */
  async function refresh(): Promise<void> {
    begun += 1
    const turn = begun
    const found = await findActiveStops()
    if (turn < shown) return
    shown = turn
    stops = found
  }

  return {
    ofSwap: (swap) => stops.find((stop) => stopsSwap(stop, swap)),
    // No asset is called nothing: without one, only a stop of all assets is meant.
    ofSide: ({ chainId, asset = '' }) => stops.find((stop) => stopsSide(stop, { chainId, asset })),
    refresh,
    async start() {
      await refresh()
      timer = setInterval(() => refresh().catch(onError), pollMs)
      timer.unref()
    },
    close() {
      clearInterval(timer)
    },
  }
}
