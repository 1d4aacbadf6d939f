import { type Address, type Hex, hashMessage, recoverAddress } from 'viem'

const MAX_KNOWN = 10_000
const known = new Map<string, Promise<Address | undefined>>()

/**
 * The signer of a hash, undefined if the bytes are no signature. Recovers each once: that takes milliseconds, and the
 * same signature is checked before every lock and delivery. Forgets the oldest of too many.
 */
export function recoverSigner(hash: Hex, signature: Hex): Promise<Address | undefined> {
  const name = `${hash} ${signature}`
  const before = known.get(name)
  if (before) return before
  // Bytes that are not a point on the curve were signed by nobody.
  const signer = recoverAddress({ hash, signature }).catch(() => undefined)
  known.set(name, signer)
  const [oldest] = known.keys()
  if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest)
  return signer
}

/** Whether the wallet signed a hash: as 32 bytes with EIP-191 personal_sign, or as the digest of typed data. */
export async function isHashSigned(wallet: string, hash: string, signature: string): Promise<boolean> {
  const digests = [hashMessage({ raw: hash as Hex }), hash as Hex]
  for (const digest of digests) if ((await recoverSigner(digest, signature as Hex)) === wallet) return true
  return false
}
