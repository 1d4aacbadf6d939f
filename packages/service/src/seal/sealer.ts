import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  randomFillSync,
} from 'node:crypto'
import { ServiceError } from '../errors.ts'

type SealKey = { id: string; key: Buffer }
export type Purpose = 'quote' | 'op' | 'input' | 'webhook'
type Clock = { now(): number }

const SALT_BYTES = 16
const NONCE_BYTES = 12

const HOUR_MS = 3_600_000
// Salts last an hour per process: 1,024 of them serve hundreds of processes within a token's lifetime.
const MAX_REMEMBERED = 1_024

/** The derivation includes the purpose, so that the key of one kind of token cannot open another. */
function deriveSubkey(key: Buffer, { purpose, salt }: { purpose: Purpose; salt: Buffer }): KeyObject {
  const bytes = hkdfSync('sha256', key, salt, `geoswap/${purpose}/v1`, 32)
  return createSecretKey(Buffer.from(bytes))
}

type SealingSubkey = { salt: Buffer; key: KeyObject }

// See docs/decisions.md#sealed-tokens.
/** The subkey to seal with: new for each process and hour, so that random nonces never collide under one key. */
function createSealingSubkeys(key: Buffer, clock: Clock): (purpose: Purpose) => SealingSubkey {
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
function createSubkeyMemory(max = MAX_REMEMBERED): SubkeyMemory {
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
function createNonces(): () => Buffer {
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

export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue }

export type Sealer = {
  /** An opaque token that only the same purpose and account can open. */
  seal(purpose: Purpose, accountId: string, payload: JsonValue): string
  /** The payload of a genuine token. Throws a ServiceError INVALID_TOKEN for anything else. */
  open(purpose: Purpose, accountId: string, token: string): JsonValue
  /** Whether it was sealed with the current key. Stored tokens have to be resealed before an old key is removed. */
  isCurrent(token: string): boolean
}

const VERSION = 1
const TAG_BYTES = 16
const MAX_TOKEN_LENGTH = 8 * 1024
const CIPHER = 'aes-256-gcm'

/**
 * Token, base64url: version (1) | length of key id (1) | key id | salt (16) | nonce (12) | ciphertext | tag (16).
 * Everything before the ciphertext, the purpose and the account are authenticated.
 */
type Parts = { keyId: string; header: Buffer; salt: Buffer; nonce: Buffer; sealed: Buffer; tag: Buffer }

/** Seals with the first key and opens with any: rotate by putting the new key first. */
export function createSealer(options: { keys: readonly SealKey[]; clock?: Clock }): Sealer {
  const { keys, clock = Date } = options
  const [first] = keys
  assertKeys(keys)
  if (!first) throw new Error('At least one seal key is required')
  const keysById = new Map(keys.map(({ id, key }) => [id, key]))
  const sealingSubkey = createSealingSubkeys(first.key, clock)
  const nextNonce = createNonces()
  const memory = createSubkeyMemory()
  const prefix = Buffer.concat([Buffer.from([VERSION, first.id.length]), Buffer.from(first.id, 'latin1')])

  return {
    seal(purpose, accountId, payload) {
      const { salt, key } = sealingSubkey(purpose)
      const nonce = nextNonce()
      const header = Buffer.concat([prefix, salt, nonce])
      const cipher = createCipheriv(CIPHER, key, nonce)
      cipher.setAAD(associatedData(header, purpose, accountId))
      const sealed = cipher.update(JSON.stringify(payload), 'utf8')
      cipher.final()
      return Buffer.concat([header, sealed, cipher.getAuthTag()]).toString('base64url')
    },

    open(purpose, accountId, token) {
      const parts = parseToken(token)
      const master = keysById.get(parts.keyId)
      if (!master) throw new ServiceError('INVALID_TOKEN')
      const name = `${purpose}.${parts.keyId}.${parts.salt.toString('latin1')}`
      const known = memory.find(name)
      const key = known ?? deriveSubkey(master, { purpose, salt: parts.salt })
      const payload = decrypt(key, parts, associatedData(parts.header, purpose, accountId))
      memory.remember(name, key)
      return payload
    },

    isCurrent: (token) => parseToken(token).keyId === first.id,
  }
}

function assertKeys(keys: readonly SealKey[]): void {
  const ids = new Set(keys.map(({ id }) => id))
  if (ids.size !== keys.length) throw new Error('Two seal keys have the same id')
  for (const { id, key } of keys) {
    if (!/^[A-Za-z0-9_-]{1,32}$/.test(id)) throw new Error('A seal key id must be 1 to 32 of A-Z a-z 0-9 _ -')
    if (key.length !== 32) throw new Error(`Seal key ${id} must have 32 bytes`)
  }
}

// The account comes last and the purpose has no NUL, so that no two pairs give the same bytes.
function associatedData(header: Buffer, purpose: Purpose, accountId: string): Buffer {
  return Buffer.concat([header, Buffer.from(`${purpose}\0${accountId}`, 'utf8')])
}

function parseToken(token: string): Parts {
  if (token.length > MAX_TOKEN_LENGTH) throw new ServiceError('INVALID_TOKEN')
  const bytes = Buffer.from(token, 'base64url')
  // Node ignores invalid characters and unused trailing bits; a genuine token has neither.
  if (bytes.toString('base64url') !== token) throw new ServiceError('INVALID_TOKEN')
  const saltAt = 2 + (bytes[1] ?? 0)
  const nonceAt = saltAt + SALT_BYTES
  const sealedAt = nonceAt + NONCE_BYTES
  const tagAt = bytes.length - TAG_BYTES
  if (bytes[0] !== VERSION || tagAt <= sealedAt) throw new ServiceError('INVALID_TOKEN')
  return {
    keyId: bytes.toString('latin1', 2, saltAt),
    header: bytes.subarray(0, sealedAt),
    salt: bytes.subarray(saltAt, nonceAt),
    nonce: bytes.subarray(nonceAt, sealedAt),
    sealed: bytes.subarray(sealedAt, tagAt),
    tag: bytes.subarray(tagAt),
  }
}

function decrypt(key: KeyObject, { nonce, sealed, tag }: Parts, associated: Buffer): JsonValue {
  try {
    const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
    decipher.setAAD(associated)
    decipher.setAuthTag(tag)
    const text = decipher.update(sealed, undefined, 'utf8') + decipher.final('utf8')
    return JSON.parse(text)
  } catch (cause) {
    throw new ServiceError('INVALID_TOKEN', { cause })
  }
}
