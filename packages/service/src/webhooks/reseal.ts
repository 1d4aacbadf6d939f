import type { Pool } from 'pg'
import { type Endpoint, findEndpoints, replaceSeals } from '../store/webhook-endpoints.ts'
import type { SecretSeal } from './secret-seal.ts'

/** Seals every stored secret with the key that seals now, so that no older one is needed for them. Repeatable. */
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
      // One whose key is gone cannot be helped; it is no reason to leave out the others.
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
