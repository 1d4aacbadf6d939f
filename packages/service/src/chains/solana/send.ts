import type { Base64EncodedWireTransaction } from '@solana/kit'
import type { SolanaClient } from './client.ts'

/**
 * Hands the bytes to every node. Returns when one took them; throws when none did, which proves nothing: the
 * bytes may have got through all the same. No node repeats them on its own, so a resend is ours to decide.
 */
export async function broadcast({ nodes }: SolanaClient, raw: string): Promise<void> {
  const options = { encoding: 'base64', skipPreflight: true, maxRetries: 0n } as const
  await Promise.any(
    nodes.map((rpc) => rpc.sendTransaction(raw as Base64EncodedWireTransaction, options).send()),
  )
}
