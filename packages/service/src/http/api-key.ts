import { hash, randomBytes, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

export type Network = 'live' | 'test' | 'local'

/**
 * gsk_<network>_<id>_<secret>_<checksum>. The prefix lets secret scanners find a leaked key; the checksum distinguishes
 * a typo from a key. The secret has 43 base62 characters: 256 bits. A publishable key is the same with gpk_.
 */
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const KEY = /^g[sp]k_(?:live|test|local)_([0-9A-Za-z]{12})_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/
const PREFIXES = { secret: 'gsk', publishable: 'gpk' } as const
const LENGTHS = { id: 12, secret: 43, checksum: 6 }

type NewKey = { id: string; key: string; hash: Buffer }

/** Creates a key. Show `key` once; store `id` and `hash`. */
export function createApiKey(network: Network, kind: keyof typeof PREFIXES = 'secret'): NewKey {
  const id = randomBase62(LENGTHS.id)
  const body = `${PREFIXES[kind]}_${network}_${id}_${randomBase62(LENGTHS.secret)}`
  const key = `${body}_${checksum(body)}`
  return { id, key, hash: hashApiKey(key) }
}

/** The id in a string of the form of a key, valid or not. */
export function parseKeyId(key: string): string | undefined {
  // Longer than any key.
  return key.length > 80 ? undefined : KEY.exec(key)?.[1]
}

/** Whether the checksum of a string of the form of a key is right. If not, the key was mistyped or invented. */
export function isWholeKey(key: string): boolean {
  const end = key.length - LENGTHS.checksum
  return key.slice(end) === checksum(key.slice(0, end - 1))
}

/** Plain SHA-256 is enough: a secret of 256 bits cannot be guessed. */
export function hashApiKey(key: string): Buffer {
  return hash('sha256', key, 'buffer')
}

export function createAccountId(): string {
  return `acc_${randomBase62(16)}`
}

function randomBase62(length: number): string {
  return Array.from({ length }, () => BASE62.charAt(randomInt(BASE62.length))).join('')
}

function checksum(body: string): string {
  let rest = crc32(body)
  let text = ''
  for (let place = 0; place < LENGTHS.checksum; place++) {
    text = BASE62.charAt(rest % 62) + text
    rest = Math.floor(rest / 62)
  }
  return text
}

/** Compared if the key id is unknown, so that the check takes as long as for a wrong secret. */
export const DUMMY_HASH = randomBytes(32)
