import type { Pool } from 'pg'
import { type Endpoint, findEndpoints, replaceSeals } from '../store/webhook-endpoints.ts'
import type { SecretSeal } from './secret-seal.ts'

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
