import { type WebhookEvent, webhookTypeOf } from '@geoswap/wire'
import type { Pool } from 'pg'
import { ServiceError } from '../errors.ts'
import { type Answer, judgeAttempt, type Verdict } from '../model/webhook.ts'
import type { Lease } from '../store/lanes.ts'
import { type Delivery, recordOutcomes, takeDue } from '../store/webhook-deliveries.ts'
import type { Endpoint } from '../store/webhook-endpoints.ts'
import type { Post } from './post.ts'
import { signedHeaders } from './sign.ts'

export type DeliverDeps = {
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
export async function deliverDue(
  deps: DeliverDeps,
  { endpoint, lease, signal }: Delivering,
): Promise<boolean> {
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
      ...(verdict.kind === 'retry' && { pauseMs: verdict.pauseMs }),
    })),
    ...(failure && { failure }),
    isGone: failures.some(({ verdict }) => verdict.kind === 'gone'),
  }
}
