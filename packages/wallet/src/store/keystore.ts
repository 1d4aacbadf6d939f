import * as Keystore from 'ox/Keystore'

/** A private key under a passphrase, in Web3 Secret Storage 3, which other wallets open too. */
export type EncryptedKey = Keystore.Keystore

// OWASP's first recommendation for scrypt: 128 MiB and some tenths of a second per guess.
const COST = { n: 2 ** 17, r: 8, p: 1 }
// Limits the time and memory that a modified file can make scrypt use.
const MAX_COST = { n: 2 ** 19, r: 8, p: 4 }

export function encryptKey(secret: Uint8Array, passphrase: string): EncryptedKey {
  const [key, options] = Keystore.scrypt({ password: passphrase.normalize('NFKC'), ...COST })
  return Keystore.encrypt(Uint8Array.from(secret), key, options)
}

/** Undefined if the passphrase is wrong or the data was changed. */
export function decryptKey(encrypted: EncryptedKey, passphrase: string): Uint8Array | undefined {
  const { kdf, kdfparams } = encrypted.crypto
  const { n, r, p } = kdfparams as typeof COST
  const isBounded = n <= MAX_COST.n && r <= MAX_COST.r && p <= MAX_COST.p
  if (kdf !== 'scrypt' || !isBounded) throw new RangeError('The key file asks for too much memory')
  const key = Keystore.toKey(encrypted, { password: passphrase.normalize('NFKC') })
  try {
    return Keystore.decrypt(encrypted, key, { as: 'Bytes' })
  } catch {
    return undefined
  }
}
