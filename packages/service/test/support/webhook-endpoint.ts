import { randomBytes } from 'node:crypto'
import type { Pool } from 'pg'
import { insertEndpoint } from '../../src/store/webhook-endpoints.ts'
import { createWebhookSecret, type SecretSeal } from '../../src/webhooks/sign.ts'
import { insertTestAccount } from './database.ts'

/** Inserts an endpoint of a new account. Returns it with its plain secret. */
export async function insertTestEndpoint(pool: Pool, { seal, url }: { seal: SecretSeal; url: string }) {
  const accountId = await insertTestAccount(pool)
  const id = `whe${randomBytes(8).toString('hex')}`
  const secret = createWebhookSecret()
  await insertEndpoint(pool, { id, accountId, url, secret: seal.seal(accountId, secret) })
  return { id, accountId, secret }
}
