import { createHmac, randomBytes } from 'node:crypto'
import type { Pool } from 'pg'
import type { Sealer } from '../seal/sealer.ts'
import { type Endpoint, findEndpoints, replaceSeals } from '../store/webhook-endpoints.ts'

const PREFIX = 'whsec_'
// Standard Webhooks allows 24 to 64.
const SECRET_BYTES = 32

/** Creates a secret in the form that receivers configure. */
export function createWebhookSecret(): string {
  return `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`
}

type Message = { id: string; seconds: number; body: string }

/** The headers of Standard Webhooks, with one signature per secret, so that a receiver may have either. */
export function signedHeaders(
  { id, seconds, body }: Message,
  secrets: readonly string[],
): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': signatures.join(' '),
  }
}

/** Seals the secrets of endpoints, each for its account only. */
export type SecretSeal = {
  seal(accountId: string, secret: string): string
  /** Throws a ServiceError if no key opens it. */
  open(accountId: string, sealed: string): string
  isCurrent(sealed: string): boolean
}

export function createSecretSeal(sealer: Sealer): SecretSeal {
  return {
    seal: (accountId, secret) => sealer.seal('webhook', accountId, secret),
    open: (accountId, sealed) => String(sealer.open('webhook', accountId, sealed)),
    isCurrent: sealer.isCurrent,
  }
}

/** Reseals every stored secret with the current key, so that older keys are no longer needed. Repeatable. */
export async function resealAll(
  pool: Pool,
  seal: SecretSeal,
  onFault: (error: unknown) => void,
): Promise<void> {
  for (const before of await findEndpoints(pool)) {
    try {
      const after = reseal(seal, before)
      if (after.secret !== before.secret || after.previousSecret !== before.previousSecret)
        await replaceSeals(pool, { before, after })
    } catch (error) {
      // A secret whose key is gone cannot be resealed, but the others can.
      onFault(error)
    }
  }
}

function reseal(seal: SecretSeal, endpoint: Endpoint): Endpoint {
  const { accountId, secret, previousSecret } = endpoint
  const again = (sealed: string) =>
    seal.isCurrent(sealed) ? sealed : seal.seal(accountId, seal.open(accountId, sealed))
  return { ...endpoint, secret: again(secret), previousSecret: previousSecret && again(previousSecret) }
}
