import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ServiceError } from '../errors.ts'
import { createSealer, type JsonValue, type Sealer } from './sealer.ts'

const key = (id: string) => ({ id, key: randomBytes(32) })
const sealer = createSealer({ keys: [key('k1')] })
const payload = { quoteId: 'q1', amount: '10000000', legs: [1, 2, null, true] }
const token = sealer.seal('quote', 'acc_1', payload)

const refused = expect.objectContaining({ code: 'INVALID_TOKEN' })
function opened(by: Sealer, text: string, purpose: 'quote' | 'op' = 'quote', account = 'acc_1'): unknown {
  try {
    return by.open(purpose, account, text)
  } catch (error) {
    return error
  }
}

/** For thousands of tries: a matcher takes longer than the seal. */
function isRefused(text: string): boolean {
  const error = opened(sealer, text)
  return error instanceof ServiceError && error.code === 'INVALID_TOKEN'
}

test('a token opens to exactly the sealed payload', () => {
  fc.assert(
    fc.property(
      fc.json(),
      fc.string(),
      fc.constantFrom('quote' as const, 'op' as const),
      (json, account, purpose) => {
        const value: JsonValue = JSON.parse(json)

        expect(sealer.open(purpose, account, sealer.seal(purpose, account, value))).toEqual(value)
      },
    ),
    { numRuns: 1_000 },
  )
})

test('401 INVALID_TOKEN for every single flipped bit of the encoded token', () => {
  for (let index = 0; index < token.length; index++)
    for (let bit = 0; bit < 8; bit++) {
      const flipped = String.fromCharCode(token.charCodeAt(index) ^ (1 << bit))
      const text = token.slice(0, index) + flipped + token.slice(index + 1)

      expect(opened(sealer, text), `character ${index}, bit ${bit}`).toEqual(refused)
    }
})

test('401 INVALID_TOKEN for a token with any bits flipped, in 10,000 tries', () => {
  const bytes = Buffer.from(token, 'base64url')
  fc.assert(
    fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (index, mask) => {
      const changed = Buffer.from(bytes)
      changed.writeUInt8(changed.readUInt8(index) ^ mask, index)

      return isRefused(changed.toString('base64url'))
    }),
    { numRuns: 10_000 },
  )
})

test('401 INVALID_TOKEN for a truncated or extended token', () => {
  const extensions = ['A', '=', '==', ' ', '\n', 'AAAA', token]
  for (let length = 0; length < token.length; length++) {
    expect(opened(sealer, token.slice(0, length))).toEqual(refused)
    expect(opened(sealer, token.slice(length + 1))).toEqual(refused)
  }

  for (const more of extensions) expect(opened(sealer, token + more)).toEqual(refused)
})

test('401 INVALID_TOKEN for any other string', () => {
  fc.assert(fc.property(fc.oneof(fc.string(), fc.base64String(), fc.string({ unit: 'binary' })), isRefused), {
    numRuns: 2_000,
  })
})

test('401 INVALID_TOKEN for another purpose or another account', () => {
  expect(opened(sealer, token, 'op')).toEqual(refused)
  expect(opened(sealer, token, 'quote', 'acc_2')).toEqual(refused)
  expect(opened(sealer, token, 'quote', '')).toEqual(refused)
  expect(opened(sealer, token)).toEqual(payload)
})

test("401 INVALID_TOKEN for another deployment's token, even under the same key id", () => {
  expect(opened(createSealer({ keys: [key('k1')] }), token)).toEqual(refused)
  expect(opened(createSealer({ keys: [key('k2')] }), token)).toEqual(refused)
})

test('401 INVALID_TOKEN for more than 8 KiB, before any decoding', () => {
  expect(opened(sealer, 'A'.repeat(8_193))).toEqual(refused)
})

test('after a rotation the new key seals and the old one still opens, on old and new processes', () => {
  const [oldKey, newKey] = [key('old'), key('new')]
  const before = createSealer({ keys: [oldKey] })
  const during = createSealer({ keys: [oldKey, newKey] })
  const after = createSealer({ keys: [newKey, oldKey] })
  const done = createSealer({ keys: [newKey] })
  const old = before.seal('op', 'a', 'old')
  const fresh = after.seal('op', 'a', 'new')

  expect(after.open('op', 'a', old)).toBe('old')
  expect(during.open('op', 'a', fresh)).toBe('new')
  expect(opened(done, old, 'op', 'a')).toEqual(refused)
})

test('a subkey is used for at most an hour, and its tokens still open afterwards', () => {
  let now = 0
  const keys = [key('k1')]
  const hourly = createSealer({ keys, clock: { now: () => now } })
  const saltOf = (text: string) => Buffer.from(text, 'base64url').subarray(4, 20).toString('hex')
  const first = hourly.seal('quote', 'a', 1)
  const second = hourly.seal('quote', 'a', 1)
  now += 3_600_000
  const later = hourly.seal('quote', 'a', 1)

  expect(saltOf(first)).toBe(saltOf(second))
  expect(saltOf(first)).not.toBe(saltOf(later))
  expect(hourly.open('quote', 'a', first)).toBe(1)
  expect(createSealer({ keys }).open('quote', 'a', later)).toBe(1)
})

test('no two of 20,000 tokens share a nonce', () => {
  const nonces = Array.from({ length: 20_000 }, () =>
    Buffer.from(sealer.seal('quote', 'a', 0), 'base64url')
      .subarray(20, 32)
      .toString('hex'),
  )

  expect(new Set(nonces).size).toBe(nonces.length)
})

test('a payload of 900 bytes makes a token under 2 KiB', () => {
  expect(sealer.seal('quote', 'acc_1', 'x'.repeat(900)).length).toBeLessThan(2_048)
})

test('a key ring with a short key, a repeated id or no key is rejected', () => {
  expect(() => createSealer({ keys: [] })).toThrow('At least one')
  expect(() => createSealer({ keys: [{ id: 'k', key: randomBytes(16) }] })).toThrow('32 bytes')
  expect(() => createSealer({ keys: [key('k'), key('k')] })).toThrow('same id')
})
