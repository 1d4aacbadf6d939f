import {
  createCipheriv,
  createDecipheriv,
  randomBytes,
  randomUUID,
  scryptSync,
  timingSafeEqual,
} from 'node:crypto'
import { keccak256 } from 'viem'

/** Web3 Secret Storage, version 3, as Ethereum wallets and nodes read it. All bytes are hex. */
export type EncryptedSecret = {
  version: 3
  id: string
  crypto: {
    cipher: 'aes-128-ctr'
    cipherparams: { iv: string }
    ciphertext: string
    kdf: 'scrypt'
    kdfparams: { dklen: 32; n: number; r: number; p: number; salt: string }
    mac: string
  }
}

export type ScryptCost = { n: number; r: number; p: number }

// 128 MiB and some tenths of a second per guess.
const COST = { n: 2 ** 17, r: 8, p: 1 }
// The limit for files: a modified one must not exhaust the memory.
const MAX_COST = { n: 2 ** 20, r: 8, p: 8 }

export function encryptSecret(secret: Buffer, passphrase: string, cost: ScryptCost = COST): EncryptedSecret {
  const salt = randomBytes(32).toString('hex')
  const iv = randomBytes(16)
  const kdfparams = { dklen: 32 as const, ...cost, salt }
  const derived = derive(passphrase, kdfparams)
  const cipher = createCipheriv('aes-128-ctr', derived.subarray(0, 16), iv)
  const ciphertext = Buffer.concat([cipher.update(secret), cipher.final()])
  return {
    version: 3,
    id: randomUUID(),
    crypto: {
      cipher: 'aes-128-ctr',
      cipherparams: { iv: iv.toString('hex') },
      ciphertext: ciphertext.toString('hex'),
      kdf: 'scrypt',
      kdfparams,
      mac: macOf(derived, ciphertext).toString('hex'),
    },
  }
}

/** Undefined if the passphrase is wrong or the file was modified. */
export function decryptSecret({ version, crypto }: EncryptedSecret, passphrase: string): Buffer | undefined {
  const { cipher, kdf, kdfparams } = crypto
  if (version !== 3 || cipher !== 'aes-128-ctr' || kdf !== 'scrypt') {
    throw new Error('A key file must be Web3 Secret Storage 3 with scrypt and aes-128-ctr')
  }
  const derived = derive(passphrase, kdfparams)
  const ciphertext = Buffer.from(crypto.ciphertext, 'hex')
  const expected = Buffer.from(crypto.mac, 'hex')
  const actual = macOf(derived, ciphertext)
  if (expected.length !== actual.length || !timingSafeEqual(expected, actual)) return undefined
  const iv = Buffer.from(crypto.cipherparams.iv, 'hex')
  const decipher = createDecipheriv('aes-128-ctr', derived.subarray(0, 16), iv)
  return Buffer.concat([decipher.update(ciphertext), decipher.final()])
}

function derive(passphrase: string, params: EncryptedSecret['crypto']['kdfparams']): Buffer {
  const { dklen, n, r, p, salt } = params
  if (dklen !== 32 || n > MAX_COST.n || r > MAX_COST.r || p > MAX_COST.p) {
    throw new RangeError('The key file asks for too much memory')
  }
  // Twice the memory of scrypt itself: Node's accounting is slightly higher.
  return scryptSync(passphrase, Buffer.from(salt, 'hex'), dklen, { N: n, r, p, maxmem: 256 * n * r })
}

function macOf(derived: Buffer, ciphertext: Buffer): Buffer {
  return Buffer.from(keccak256(Buffer.concat([derived.subarray(16, 32), ciphertext])).slice(2), 'hex')
}
