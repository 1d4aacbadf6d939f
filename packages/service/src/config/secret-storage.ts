import { randomBytes, scryptSync } from 'node:crypto'
import * as Keystore from 'ox/Keystore'
import type { Hex } from 'viem'

/** Web3 Secret Storage, version 3, as Ethereum wallets and nodes read it. */
export type EncryptedSecret = Keystore.Keystore

export type ScryptCost = { n: number; r: number; p: number }

// 128 MiB and some tenths of a second per guess.
const COST = { n: 2 ** 17, r: 8, p: 1 }
// The limit for files: a modified one must not exhaust the memory.
const MAX_COST = { n: 2 ** 19, r: 8, p: 8 }

export function encryptSecret(secret: Hex, passphrase: string, cost: ScryptCost = COST): EncryptedSecret {
  const kdfparams = { ...cost, dklen: 32, salt: randomBytes(32).toString('hex') }
  const options = { kdf: 'scrypt' as const, kdfparams, iv: randomBytes(16) }
  return Keystore.encrypt(secret, deriveKey(passphrase, kdfparams), options)
}

/** Undefined if the passphrase is wrong or the file was modified. */
export function decryptSecret(encrypted: EncryptedSecret, passphrase: string): Hex | undefined {
  assertBounded(encrypted)
  const key = deriveKey(passphrase, encrypted.crypto.kdfparams as Derivation)
  try {
    return Keystore.decrypt(encrypted, key)
  } catch {
    return undefined
  }
}

type Derivation = ScryptCost & { salt: string }

/** By Node's own scrypt: in JavaScript a key takes seconds, and a worker opens eight. */
function deriveKey(passphrase: string, { n, r, p, salt }: Derivation): Hex {
  const options = { N: n, r, p, maxmem: 256 * n * r }
  return `0x${scryptSync(passphrase, Buffer.from(salt, 'hex'), 32, options).toString('hex')}`
}

function assertBounded({ version, crypto }: EncryptedSecret): void {
  if (version !== 3 || crypto.cipher !== 'aes-128-ctr' || crypto.kdf !== 'scrypt') {
    throw new Error('A key file must be Web3 Secret Storage 3 with scrypt and aes-128-ctr')
  }
  const { n, r, p } = crypto.kdfparams as ScryptCost
  const isBounded = n <= MAX_COST.n && r <= MAX_COST.r && p <= MAX_COST.p
  if (!isBounded) throw new RangeError('The key file asks for too much memory')
}
