import type { TxCost } from '../chain.ts'
import { readInputTerms } from './input-terms.ts'
import type { SolanaParts } from './parts.ts'
import { readTransaction } from './transaction.ts'

/**
 * The fee that a transaction took from its fee payer, and the ops that it moved: none if it failed. A wallet that
 * closes its account after the simulation makes the lock fail at our cost.
 */
export async function readCost(
  { client, settings }: Pick<SolanaParts, 'client' | 'settings'>,
  txHash: string,
): Promise<TxCost | undefined> {
  const query = { txHash, commitment: 'confirmed', program: settings.program } as const
  const found = await readTransaction(client.agreed, query)
  if (!found) return undefined
  const input = found.failed ? undefined : await readInputTerms(settings, found)
  const others = found.escrow.flatMap((each) => {
    if (each.kind === 'sweep') return []
    return each.kind === 'deliver' ? [each.opId] : [each.terms.opId]
  })
  return { fee: found.fee, eventIds: [...(input ? [`0x${input.opId}`] : []), ...others] }
}
