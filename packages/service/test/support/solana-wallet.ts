import { type KeyPairSigner, signBytes } from '@solana/kit'
import { fromBase64, toBase64 } from '../../src/chains/solana/bytes.ts'
import { joinWire, splitWire } from '../../src/chains/solana/message.ts'

/** Signs a transaction as a wallet does: its signature goes into its own slot, the second one. */
export async function signAsWallet(wallet: KeyPairSigner, transaction: string): Promise<string> {
  const split = splitWire(wireOf(transaction), { count: 2 })
  if (!split) throw new Error('Not a transaction of two signatures')
  const signature = await signBytes(wallet.keyPair.privateKey, split.message)
  return toBase64(joinWire([split.signatures[0] ?? new Uint8Array(64), signature], split.message))
}

export function wireOf(transaction: string): Uint8Array {
  const wire = fromBase64(transaction)
  if (!wire) throw new Error('Not base64')
  return wire
}

export function messageOf(transaction: string): Uint8Array {
  return wireOf(transaction).slice(1 + 2 * 64)
}
