import { setMaxListeners } from 'node:events'
import type { Lease } from '../store/lanes.ts'
import { placeEvents } from '../store/webhook-deliveries.ts'
import {
  disableEndpoint,
  type Endpoint,
  findDueEndpoints,
  findOverloaded,
} from '../store/webhook-endpoints.ts'
import { type DeliverDeps, deliverDue } from './deliver.ts'

type WebhookSender = {
  /** Starts due deliveries without waiting for the endpoints. */
  step(lease: Lease): Promise<void>
  /** Resolves once nothing is in flight. */
  drained(): Promise<void>
  /** Aborts requests in flight: the next holder of the lane sends them again. */
  stop(): Promise<void>
}

type Options = DeliverDeps & { onFault(error: unknown): void; restMs?: number }

const PLACED_AT_ONCE = 1_000
// Concurrently served endpoints; others follow once one has nothing left.
const MAX_BUSY = 32
// Pause of an endpoint that accepted nothing, whatever else is due.
const REST_MS = 5_000
const MAX_WAITING = 100_000
const TIDY_MS = 60_000

/** Posts events to endpoints while it holds the lane, each at its own pace, so that a slow endpoint delays no other. */
export function createWebhookSender(options: Options): WebhookSender {
  const { pool, onFault, restMs = REST_MS } = options
  const stopping = new AbortController()
  // Every attempt in flight adds a listener.
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
  /** Disables failing endpoints with too many pending events. */
  async function tidy(): Promise<void> {
    if (performance.now() - tidiedAt < TIDY_MS) return
    tidiedAt = performance.now()
    const because = `more than ${MAX_WAITING} events were pending`
    for (const id of await findOverloaded(pool, MAX_WAITING)) {
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
