import { type Address, type Hex, hashMessage, recoverAddress } from 'viem'
import { remember } from '../../async/remember.ts'

const signers = new Map<string, Promise<Address | undefined>>()

/**
 * The signer of a hash, undefined if the bytes are no signature. Each is recovered once: that takes milliseconds, and
 * the same signature is checked before every lock and delivery.
 */
export function recoverSigner(hash: Hex, signature: Hex): Promise<Address | undefined> {
  // Bytes that are not a point on the curve were signed by nobody.
  const recover = () => recoverAddress({ hash, signature }).catch(() => undefined)
  return remember(signers, `${hash} ${signature}`, recover)
}

/** Whether the wallet signed a hash: as 32 bytes with EIP-191 personal_sign, or as the digest of typed data. */
export async function isHashSigned(wallet: string, hash: string, signature: string): Promise<boolean> {
  const digests = [hashMessage({ raw: hash as Hex }), hash as Hex]
  for (const digest of digests) if ((await recoverSigner(digest, signature as Hex)) === wallet) return true
  return false
}
