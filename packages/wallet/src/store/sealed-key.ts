import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto'

/** A private key under a passphrase: scrypt derives the key, AES-256-GCM encrypts. All bytes are base64. */
export type SealedKey = {
  kdf: { name: 'scrypt'; N: number; r: number; p: number; salt: string }
  cipher: { name: 'aes-256-gcm'; iv: string; tag: string; text: string }
}

// OWASP's first recommendation for scrypt: 128 MiB and some tenths of a second per guess.
const COST = { N: 2 ** 17, r: 8, p: 1 }
// Limits the memory that a modified file can make scrypt use.
const MAX_N = 2 ** 20
const KEY_BYTES = 32

/** `about` is authenticated but not secret: a key stored with a different `about` does not open. */
export async function sealKey(
  secret: Uint8Array,
  { passphrase, about }: { passphrase: string; about: string },
): Promise<SealedKey> {
  const salt = randomBytes(16)
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', await derive(passphrase, salt, COST), iv)
  cipher.setAAD(Buffer.from(about))
  const text = Buffer.concat([cipher.update(secret), cipher.final()])
  return {
    kdf: { name: 'scrypt', ...COST, salt: salt.toString('base64') },
    cipher: {
      name: 'aes-256-gcm',
      iv: iv.toString('base64'),
      tag: cipher.getAuthTag().toString('base64'),
      text: text.toString('base64'),
    },
  }
}

/** Undefined if the passphrase is wrong or the data was changed. */
export async function openKey(
  { kdf, cipher }: SealedKey,
  { passphrase, about }: { passphrase: string; about: string },
): Promise<Uint8Array | undefined> {
  const key = await derive(passphrase, fromBase64(kdf.salt), kdf)
  const decipher = createDecipheriv('aes-256-gcm', key, fromBase64(cipher.iv), { authTagLength: 16 })
  decipher.setAAD(Buffer.from(about))
  decipher.setAuthTag(fromBase64(cipher.tag))
  const secret = decipher.update(fromBase64(cipher.text))
  try {
    decipher.final()
  } catch {
    return undefined
  }
  return secret
}

function derive(
  passphrase: string,
  salt: Buffer,
  { N, r, p }: { N: number; r: number; p: number },
): Promise<Buffer> {
  if (N > MAX_N || r > 8 || p > 4) throw new RangeError('The key file asks for too much memory')
  // Twice what scrypt needs, because Node counts slightly more.
  const maxmem = 256 * N * r
  return new Promise((resolve, reject) => {
    const done = (error: Error | null, key: Buffer) => (error ? reject(error) : resolve(key))
    scrypt(passphrase.normalize('NFKC'), salt, KEY_BYTES, { N, r, p, maxmem }, done)
  })
}

function fromBase64(text: string): Buffer {
  return Buffer.from(text, 'base64')
}
