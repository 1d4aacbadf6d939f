import {
  createKeyPairSignerFromBytes,
  createKeyPairSignerFromPrivateKeyBytes,
  type KeyPairSigner,
} from '@solana/kit'

/** A key of ours. Outside this folder only its `address` means anything. */
export type SolanaSigner = KeyPairSigner

/** From 32 secret bytes, or from 64: those and the public key, which must fit. */
export function createSolanaSigner(secret: Uint8Array): Promise<SolanaSigner> {
  return secret.length === 64
    ? createKeyPairSignerFromBytes(secret)
    : createKeyPairSignerFromPrivateKeyBytes(secret)
}
