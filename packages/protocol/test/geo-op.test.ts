import { readFileSync } from 'node:fs'
import { type Hex, hashTypedData } from 'viem'
import { expect, test } from 'vitest'
import { slotStateOf } from '../src/deployment.ts'
import {
  createDeliveryHasher,
  fromIndex,
  type GeoOp,
  geoOpDomain,
  geoOpTypes,
  hashDelivery,
  hashGeoOp,
  solanaRingOf,
  toBytes32,
  toIndex,
} from '../src/geo-op.ts'

type Vector = {
  name: string
  chainId: number
  verifyingContract: Hex
  op: GeoOp
  deliveryHash: Hex
  opHash: Hex
}

// The contracts reproduce the same file: the escrow recovers exactly what a wallet signs here.
const file = new URL('../../contracts/vectors/geo-op.json', import.meta.url)
const vectors: Vector[] = JSON.parse(readFileSync(file, 'utf8'), (_, value) =>
  typeof value === 'string' && /^\d+$/.test(value) ? BigInt(value) : value,
)

test.each(vectors)('the delivery hasher returns the same hash for $name', ({ op: { delivery } }) => {
  expect(createDeliveryHasher(delivery)(delivery)).toBe(hashDelivery(delivery))
})

test.each(vectors)('the hash of $name is that of its typed data', (vector) => {
  const origin = { chainId: vector.chainId, escrow: vector.verifyingContract }
  const message = vector.op
  const typed = { domain: geoOpDomain(origin), types: geoOpTypes, primaryType: 'GeoOp', message } as const

  expect(hashGeoOp(origin, message)).toBe(hashTypedData(typed))
})

test.each(vectors)('the hash of $name is the one that the escrow computes', (vector) => {
  const { op } = vector

  expect(hashDelivery(op.delivery)).toBe(vector.deliveryHash)
  expect(hashGeoOp({ chainId: vector.chainId, escrow: vector.verifyingContract }, op)).toBe(vector.opHash)
})

test('an index consists of a round and a position', () => {
  const slot = { round: 7n, position: 4_294_967_295n }

  expect(fromIndex(toIndex(slot))).toEqual(slot)
})

test('a Solana address is its own 32 bytes, and the native coin is all zeros on both families', () => {
  expect(toBytes32('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA')).toBe(
    '0x06ddf6e1d765a193d9cbe146ceeb79ac1cb485ed5f5b37913a8cf5857eff00a9',
  )
  expect(toBytes32('11111111111111111111111111111111')).toBe(`0x${'00'.repeat(32)}`)
  expect(toBytes32('0x0000000000000000000000000000000000000000')).toBe(`0x${'00'.repeat(32)}`)
})

test('a text that is neither an EVM nor a Solana address is refused', () => {
  const wrong = [
    '',
    '0x12',
    '1111111111111111111111111111111',
    '0OIl',
    'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DAA',
  ]

  for (const text of wrong) expect(() => toBytes32(text)).toThrow(TypeError)
})

test('the rings of two programs, and of one program on two chains, differ', () => {
  const program = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
  const rings = [
    solanaRingOf({ chainId: 31_339, program }),
    solanaRingOf({ chainId: 31_340, program }),
    solanaRingOf({ chainId: 31_339, program: '11111111111111111111111111111111' }),
  ]

  expect(new Set(rings).size).toBe(3)
})

test('a slot that holds another op has no state for this one', () => {
  const hash = `0x${'ab'.repeat(32)}` as const
  const word = (1n << 224n) | (1n << 222n) | (BigInt(hash) & ((1n << 222n) - 1n))

  expect(slotStateOf(word, hash)).toBe('locked')
  expect(slotStateOf(word, `0x${'cd'.repeat(32)}`)).toBe('none')
})
