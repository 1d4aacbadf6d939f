import { setMaxListeners } from 'node:events'
import { type WebhookEvent, webhookTypeOf } from '@geoswap/wire'
import type { Pool } from 'pg'
import { ServiceError } from '../errors.ts'
import type { Lease } from '../store/lanes.ts'
import { type Delivery, placeEvents, recordOutcomes, takeDue } from '../store/webhook-deliveries.ts'
import {
  disableEndpoint,
  type Endpoint,
  findDueEndpoints,
  findOverloaded,
} from '../store/webhook-endpoints.ts'
import { type Answer, judgeAttempt, type Post, type Verdict } from './post.ts'
import { signedHeaders } from './sign.ts'

type DeliverDeps = {
  pool: Pool
  post: Post
  /** Opens a sealed secret. Throws a ServiceError if it cannot be opened. */
  openSecret(accountId: string, sealed: string): string
  now(): number
  /** Between 0 and 1. */
  random(): number
  onAttempt(attempt: { webhookId: string; verdict: Verdict }): void
  onDisabled(endpointId: string, because: string): void
}

// Concurrent events per endpoint.
const AT_ONCE = 16
// Longer than an attempt can take. Deliveries of a crashed process are due again after this.
const TAKEN_MS = 60_000

type Delivering = { endpoint: Endpoint; lease: Lease; signal: AbortSignal }

/** Posts due events to an endpoint until none is left or it accepts none. Returns whether it accepted. */
async function deliverDue(deps: DeliverDeps, { endpoint, lease, signal }: Delivering): Promise<boolean> {
  for (;;) {
    const taking = { lease, endpointId: endpoint.id, limit: AT_ONCE, retryMs: TAKEN_MS }
    const due = signal.aborted ? [] : await takeDue(deps.pool, taking)
    if (due.length === 0) return true
    const attempts = await Promise.all(
      due.map(async (delivery) => ({ delivery, verdict: await attempt(deps, endpoint, delivery, signal) })),
    )
    // An attempt aborted by our own stop says nothing about the endpoint.
    if (signal.aborted) return true
    const because = await recordOutcomes(deps.pool, toOutcomes(endpoint.id, attempts))
    if (because) deps.onDisabled(endpoint.id, because)
    if (!attempts.some(({ verdict }) => verdict.kind === 'delivered')) return false
  }
}

async function attempt(
  deps: DeliverDeps,
  endpoint: Endpoint,
  delivery: Delivery,
  signal: AbortSignal,
): Promise<Verdict> {
  const webhookId = `msg_${endpoint.id}_${delivery.position}`
  const answer = await send(deps, { endpoint, delivery, signal, webhookId })
  const verdict = judgeAttempt(answer, { attempts: delivery.attempts, random: deps.random() })
  if (!signal.aborted) deps.onAttempt({ webhookId, verdict })
  return verdict
}

type Sending = { endpoint: Endpoint; delivery: Delivery; signal: AbortSignal; webhookId: string }

async function send(deps: DeliverDeps, { endpoint, delivery, signal, webhookId }: Sending): Promise<Answer> {
  const secrets = openSecrets(deps, endpoint)
  if (!secrets) return { kind: 'failed', reason: 'its secret was sealed with a key that is gone' }
  const body = JSON.stringify(toEvent(delivery))
  const seconds = Math.floor(deps.now() / 1_000)
  const headers = {
    ...signedHeaders({ id: webhookId, seconds, body }, secrets),
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': 'geoswap',
  }
  return deps.post({ url: endpoint.url, headers, body, signal })
}

/** Undefined if the current secret cannot be opened. A previous secret that cannot be opened is omitted. */
function openSecrets(
  deps: DeliverDeps,
  { accountId, secret, previousSecret }: Endpoint,
): string[] | undefined {
  const current = findSecret(deps, accountId, secret)
  const previous = previousSecret && findSecret(deps, accountId, previousSecret)
  return current === undefined ? undefined : [current, ...(previous ? [previous] : [])]
}

function findSecret({ openSecret }: DeliverDeps, accountId: string, sealed: string): string | undefined {
  try {
    return openSecret(accountId, sealed)
  } catch (error) {
    if (error instanceof ServiceError) return undefined
    throw error
  }
}

function toEvent({ seq, at, swap }: Delivery): WebhookEvent {
  return { type: webhookTypeOf(swap), timestamp: at.toISOString(), sequence: seq, data: swap }
}

type Attempted = { delivery: Delivery; verdict: Verdict }

function toOutcomes(endpointId: string, attempts: readonly Attempted[]) {
  const failures = attempts.flatMap(({ delivery: { position }, verdict }) =>
    verdict.kind === 'delivered' ? [] : [{ position, verdict }],
  )
  const failure = failures.at(-1)?.verdict.failure
  return {
    endpointId,
    delivered: attempts
      .filter(({ verdict }) => verdict.kind === 'delivered')
      .map(({ delivery }) => delivery.position),
    failed: failures.map(({ position, verdict }) => ({
      position,
      pauseMs: verdict.kind === 'retry' ? verdict.pauseMs : undefined,
    })),
    failure,
    isGone: failures.some(({ verdict }) => verdict.kind === 'gone'),
  }
}

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
  /** Endpoints that are being served, or rest. */
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
