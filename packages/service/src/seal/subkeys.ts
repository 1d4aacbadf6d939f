import { createSecretKey, hkdfSync, type KeyObject, randomBytes, randomFillSync } from 'node:crypto'

export type SealKey = { id: string; key: Buffer }
export type Purpose = 'quote' | 'op' | 'input' | 'webhook'
export type Clock = { now(): number }

export const SALT_BYTES = 16
export const NONCE_BYTES = 12

const HOUR_MS = 3_600_000
// Salts last an hour per process: 1,024 of them serve hundreds of processes within a token's lifetime.
const MAX_REMEMBERED = 1_024

/** The derivation includes the purpose, so that the key of one kind of token cannot open another. */
export function deriveSubkey(key: Buffer, { purpose, salt }: { purpose: Purpose; salt: Buffer }): KeyObject {
  const bytes = hkdfSync('sha256', key, salt, `geoswap/${purpose}/v1`, 32)
  return createSecretKey(Buffer.from(bytes))
}

type SealingSubkey = { salt: Buffer; key: KeyObject }

/** The subkey to seal with: new for each process and hour, so that random nonces never collide under one key. */
export function createSealingSubkeys(key: Buffer, clock: Clock): (purpose: Purpose) => SealingSubkey {
  const current = new Map<Purpose, SealingSubkey & { hour: number }>()
  return (purpose) => {
    const hour = Math.floor(clock.now() / HOUR_MS)
    const known = current.get(purpose)
    if (known?.hour === hour) return known
    const salt = randomBytes(SALT_BYTES)
    const fresh = { hour, salt, key: deriveSubkey(key, { purpose, salt }) }
    current.set(purpose, fresh)
    return fresh
  }
}

type SubkeyMemory = {
  find(name: string): KeyObject | undefined
  /** Call it only for genuine tokens, so that attackers cannot fill it. */
  remember(name: string, key: KeyObject): void
}

/** Caches the subkeys of genuine tokens; evicts the least recently used. */
export function createSubkeyMemory(max = MAX_REMEMBERED): SubkeyMemory {
  const keys = new Map<string, KeyObject>()
  const remember = (name: string, key: KeyObject): void => {
    keys.delete(name)
    keys.set(name, key)
    if (keys.size <= max) return
    const oldest = keys.keys().next()
    if (!oldest.done) keys.delete(oldest.value)
  }
  return { find: (name) => keys.get(name), remember }
}

/** Random nonces, read from the system in blocks: one call per 512 tokens. */
export function createNonces(): () => Buffer {
  const block = Buffer.alloc(NONCE_BYTES * 512)
  let offset = block.length
  return () => {
    if (offset === block.length) {
      randomFillSync(block)
      offset = 0
    }
    const nonce = Buffer.from(block.subarray(offset, offset + NONCE_BYTES))
    offset += NONCE_BYTES
    return nonce
  }
}
