import { setMaxListeners } from 'node:events'
import type { Lease } from '../store/lanes.ts'
import { placeEvents } from '../store/webhook-deliveries.ts'
import { disableEndpoint, type Endpoint, findDueEndpoints, findOverfull } from '../store/webhook-endpoints.ts'
import { type DeliverDeps, deliverDue } from './deliver.ts'

export type WebhookSender = {
  /** Starts what is due; it does not wait for the endpoints. */
  step(lease: Lease): Promise<void>
  /** Resolves when nothing is on its way any more. */
  drained(): Promise<void>
  /** Cuts off what is on its way: whoever has the lease next sends it again. */
  stop(): Promise<void>
}

type Options = DeliverDeps & { onFault(error: unknown): void; restMs?: number }

const PLACED_AT_ONCE = 1_000
// So many endpoints are served at once; others get their turn when one of them has nothing left.
const MAX_BUSY = 32
// An endpoint that accepted nothing is left alone for this long, whatever else is due for it.
const REST_MS = 5_000
const MAX_WAITING = 100_000
const TIDY_MS = 60_000

/** Hands events to endpoints while it has the lease: each at its own pace, so that a slow one holds up nobody else. */
export function createWebhookSender(options: Options): WebhookSender {
  const { pool, onFault, restMs = REST_MS } = options
  const stopping = new AbortController()
  // Every attempt under way listens to it.
  setMaxListeners(0, stopping.signal)
  const busy = new Map<string, Promise<void>>()
  const restsUntil = new Map<string, number>()
  let tidiedAt = 0

  async function serve(endpoint: Endpoint, lease: Lease): Promise<void> {
    const accepts = await deliverDue(options, { endpoint, lease, signal: stopping.signal })
    if (!accepts) restsUntil.set(endpoint.id, performance.now() + restMs)
  }
  function start(endpoint: Endpoint, lease: Lease): void {
    const served = serve(endpoint, lease)
      .catch(onFault)
      .finally(() => busy.delete(endpoint.id))
    busy.set(endpoint.id, served)
  }
  function skipped(): string[] {
    for (const [id, until] of restsUntil) if (until <= performance.now()) restsUntil.delete(id)
    return [...busy.keys(), ...restsUntil.keys()]
  }
  const drained = async () => void (await Promise.all(busy.values()))
  /** What nobody accepts must not pile up for days. */
  async function tidy(): Promise<void> {
    if (performance.now() - tidiedAt < TIDY_MS) return
    tidiedAt = performance.now()
    const because = `more than ${MAX_WAITING} events waited for it`
    for (const id of await findOverfull(pool, MAX_WAITING)) {
      await disableEndpoint(pool, { id, because })
      options.onDisabled(id, because)
    }
  }

  return {
    async step(lease) {
      let placed = PLACED_AT_ONCE
      while (placed === PLACED_AT_ONCE) placed = await placeEvents(pool, { lease, limit: PLACED_AT_ONCE })
      const limit = MAX_BUSY - busy.size
      if (limit > 0)
        for (const endpoint of await findDueEndpoints(pool, { busy: skipped(), limit }))
          start(endpoint, lease)
      await tidy()
    },
    drained,
    stop() {
      stopping.abort()
      return drained()
    },
  }
}
