import { createHmac, randomBytes } from 'node:crypto'

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
