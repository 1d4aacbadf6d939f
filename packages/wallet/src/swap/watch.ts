import type { Client } from '@geoswap/sdk'
import type { Context } from '../context.ts'
import type { Order } from '../store/journal.ts'
import { whereIsMoney } from './where.ts'

/** Shows each change of a swap as it happens. */
export function createWatch({ terminal, interrupts }: Context, client: Client, order: Order) {
  const stop = new AbortController()
  let isLive = false

  async function show(swapId: string): Promise<void> {
    const signal = AbortSignal.any([stop.signal, interrupts.signal])
    for await (const { swap } of client.events(swapId, { signal })) {
      if (!signal.aborted) terminal.progress(whereIsMoney(swap, order))
    }
  }

  return {
    isLive: () => isLive,
    /** The swap is followed by reads as well, so without the stream only fewer changes are seen. */
    start(swapId: string): void {
      isLive = true
      const end = () => {
        isLive = false
      }
      show(swapId).then(end, end)
    },
    stop: () => stop.abort(),
  }
}
