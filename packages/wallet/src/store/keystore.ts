import { randomBytes, scryptSync } from 'node:crypto'
import * as Keystore from 'ox/Keystore'

/** A private key under a passphrase, in Web3 Secret Storage 3, which other wallets open too. */
export type EncryptedKey = Keystore.Keystore

// OWASP's first recommendation for scrypt: 128 MiB and some tenths of a second per guess.
const COST = { n: 2 ** 17, r: 8, p: 1 }
// Limits the time and memory that a modified file can make scrypt use.
const MAX_COST = { n: 2 ** 19, r: 8, p: 4 }

type Derivation = typeof COST & { salt: string }

export function encryptKey(secret: Uint8Array, passphrase: string): EncryptedKey {
  const kdfparams = { ...COST, dklen: 32, salt: randomBytes(32).toString('hex') }
  const options = { iv: Uint8Array.from(randomBytes(16)), kdf: 'scrypt', kdfparams } as const
  return Keystore.encrypt(Uint8Array.from(secret), deriveKey(passphrase, kdfparams), options)
}

/** Undefined if the passphrase is wrong or the data was changed. */
export function decryptKey(encrypted: EncryptedKey, passphrase: string): Uint8Array | undefined {
  const { kdf, kdfparams } = encrypted.crypto
  const { n, r, p } = kdfparams as Derivation
  const isBounded = n <= MAX_COST.n && r <= MAX_COST.r && p <= MAX_COST.p
  if (kdf !== 'scrypt' || !isBounded) throw new RangeError('The key file asks for too much memory')
  const key = deriveKey(passphrase, kdfparams as Derivation)
  try {
    return Keystore.decrypt(encrypted, key, { as: 'Bytes' })
  } catch {
    return undefined
  }
}

/** By Node: the library's own scrypt takes more than twice as long. */
function deriveKey(passphrase: string, { n, r, p, salt }: Derivation): Keystore.Key {
  const cost = { N: n, r, p, maxmem: 256 * n * r }
  const key = scryptSync(passphrase.normalize('NFKC'), Buffer.from(salt, 'hex'), 32, cost)
  return `0x${key.toString('hex')}`
}
