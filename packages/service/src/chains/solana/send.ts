import type { Base64EncodedWireTransaction } from '@solana/kit'
import type { SolanaClient } from './client.ts'

/**
 * Broadcasts to every node. Returns when one accepted the bytes; throws if none did, although they may have arrived.
 * Nodes do not rebroadcast by themselves, so the caller decides.
 */
export async function broadcast({ nodes }: SolanaClient, raw: string): Promise<void> {
  const options = { encoding: 'base64', skipPreflight: true, maxRetries: 0n } as const
  await Promise.any(
    nodes.map((rpc) => rpc.sendTransaction(raw as Base64EncodedWireTransaction, options).send()),
  )
}
