import { createHash, randomBytes } from 'node:crypto'
import type { Signer } from '@geoswap/sdk'
import { badKey } from './errors.ts'
import type { FamilyName, Key } from './families/family.ts'
import { families, familyNames } from './families/registry.ts'

export type { FamilyName as Family, Key } from './families/family.ts'

export function createKey(family: FamilyName): Key {
  return { family, secret: randomBytes(32) }
}

/** Derives a key that anybody with the seed can compute: only for networks with worthless tokens. */
export function deriveKey(family: FamilyName, seed: string): Key {
  return { family, secret: createHash('sha256').update(`geoswap ${family} ${seed}`).digest() }
}

/** Hex digits for EVM; for Solana base58 of 64 bytes, or the 64 numbers that solana-keygen writes. */
export async function parseKey(text: string): Promise<Key> {
  for (const family of familyNames) {
    const secret = await families[family].parseKey(text.trim())
    if (secret) return { family, secret }
  }
  throw badKey()
}

/** The form that wallets import: hex digits, or base58 of the key pair. */
export function formatKey({ family, secret }: Key): Promise<string> {
  return families[family].formatKey(secret)
}

export async function addressOf(key: Key): Promise<string> {
  return (await toSigner(key)).address
}

export function toSigner({ family, secret }: Key): Promise<Signer> {
  return families[family].signer(secret)
}
