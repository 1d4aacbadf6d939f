import { expect, test } from 'vitest'
import { parseSignature, toCanonical } from './submit-evm.ts'

const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n
const word = (value: bigint) => value.toString(16).padStart(64, '0')
const R = 'AB'.repeat(32)
const full = (s: bigint, v: string, r = R) => `0x${r}${word(s)}${v}`
const compact = (s: bigint, yParity: bigint) => `0x${R}${word(s + (yParity << 255n))}`

test.each([
  ['v 0', full(7n, '00'), 0],
  ['v 27', full(7n, '1b'), 0],
  ['v 1', full(7n, '01'), 1],
  ['v 28', full(7n, '1C'), 1],
  ['the 64 bytes of EIP-2098, even', compact(7n, 0n), 0],
  ['the 64 bytes of EIP-2098, odd', compact(7n, 1n), 1],
])('a signature with %s is read, and stored in one form', (_, text, yParity) => {
  const parsed = parseSignature(text)

  expect(parsed).toEqual({ r: `0x${R}`, s: `0x${word(7n)}`, yParity })
  if (parsed) expect(toCanonical(parsed)).toBe(`0x${R.toLowerCase()}${word(7n)}${yParity ? '1c' : '1b'}`)
})

test.each([
  ['the largest low s', full(HALF_ORDER, '1b')],
  ['the largest low s in 64 bytes', compact(HALF_ORDER, 1n)],
])('%s is accepted', (_, text) => {
  expect(parseSignature(text)?.s).toBe(`0x${word(HALF_ORDER)}`)
})

test.each([
  ['a high s', full(HALF_ORDER + 1n, '1b')],
  ['a high s in 64 bytes', compact(HALF_ORDER + 1n, 0n)],
  ['s of 0', full(0n, '1b')],
  ['r of 0', full(7n, '1b', '0'.repeat(64))],
  ['v 2', full(7n, '02')],
  ['v 26', full(7n, '1a')],
  ['v 29', full(7n, '1d')],
  ['one byte more', full(7n, '1b00')],
  ['one digit less', full(7n, '1b').slice(0, -1)],
  ['no 0x', full(7n, '1b').slice(2)],
  ['another character', full(7n, '1g')],
])('%s is no signature', (_, text) => {
  expect(parseSignature(text)).toBeUndefined()
})
