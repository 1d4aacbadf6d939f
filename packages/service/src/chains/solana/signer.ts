import {
  createKeyPairSignerFromBytes,
  createKeyPairSignerFromPrivateKeyBytes,
  type KeyPairSigner,
} from '@solana/kit'

/** One of our keys. Outside this folder only its `address` is used. */
export type SolanaSigner = KeyPairSigner

/** From 32 secret bytes, or from 64 with the matching public key. */
export function createSolanaSigner(secret: Uint8Array): Promise<SolanaSigner> {
  return secret.length === 64
    ? createKeyPairSignerFromBytes(secret)
    : createKeyPairSignerFromPrivateKeyBytes(secret)
}
