import { createPolling } from '../async/timing.ts'
import { type QuoteStop, type SwapSide, stopsSide, stopsSwap } from '../swap/stop.ts'

export type StopTable = {
  /** A stop that covers a swap between these two sides, if any. */
  ofSwap(swap: { from: SwapSide; to: SwapSide }): QuoteStop | undefined
  /** A stop that covers one side, whatever the other is: a whole chain, or a token on it. */
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
 * Keeps all active stops in memory, so that a quote never waits. Reads them again on notification, and every `pollMs`
 * in case one was lost.
 */
export function createStopTable({ findActiveStops, onError, pollMs = 2_000 }: Options): StopTable {
  let stops: readonly QuoteStop[] = []
  let begun = 0
  let shown = 0

  /** Discards the result of a read if a newer one has finished. */
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
    // No asset has an empty name: without an asset, only a stop of all assets matches.
    ofSide: ({ chainId, asset = '' }) => stops.find((stop) => stopsSide(stop, { chainId, asset })),
    refresh,
    ...createPolling(refresh, { pollMs, onError }),
  }
}
