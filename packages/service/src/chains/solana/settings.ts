import {
  createKeyPairSignerFromBytes,
  createKeyPairSignerFromPrivateKeyBytes,
  createSignableMessage,
  type KeyPairSigner,
  type MessagePartialSigner,
  type SignatureBytes,
} from '@solana/kit'

/** One of our keys, in this process or elsewhere. Outside this folder only its `address` is used. */
export type SolanaSigner = MessagePartialSigner

/** A key in this process, which also signs the transactions of commands. */
export type SolanaKey = KeyPairSigner

/** From 32 secret bytes, or from 64 with the matching public key. */
export function createSolanaSigner(secret: Uint8Array): Promise<SolanaKey> {
  return secret.length === 64
    ? createKeyPairSignerFromBytes(secret)
    : createKeyPairSignerFromPrivateKeyBytes(secret)
}

/** Signs the message of a transaction. */
export async function signMessage(signer: SolanaSigner, message: Uint8Array): Promise<SignatureBytes> {
  const [signatures] = await signer.signMessages([createSignableMessage(message)])
  const signature = signatures?.[signer.address]
  if (!signature) throw new Error(`No signature of ${signer.address}`)
  return signature
}

/** One Solana chain, as configured and verified at boot. */
export type SolanaChainSettings = {
  chainId: number
  /** The escrow program. */
  program: string
  /** The authority of the accounts that pay deliveries and receive claims. */
  vault: string
  /** Signs claims, and refunds before their deadline. */
  attester: string
  feePayers: { input: string; delivery: string }
  /** Mints that can be swapped, including the native coin's address. */
  tokens: readonly string[]
  /** Bounds of the priority price, in millionths of a lamport per compute unit. */
  priorityPrice: { floor: bigint; cap: bigint }
}

export function ownFeePayers({ feePayers }: Pick<SolanaChainSettings, 'feePayers'>): string[] {
  return Object.values(feePayers)
}

/** All addresses that act for the service. */
export function ownAddresses({ vault, attester, feePayers }: Omit<SolanaChainSettings, 'tokens'>): string[] {
  return [vault, attester, ...Object.values(feePayers)]
}
