import { getBase58Decoder } from '@solana/kit'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fromBase64, isOnCurve, NATIVE_SOL, parseSolanaAddress, toBase64 } from './bytes.ts'

test('32 bytes in base58 are an address, anything else is not', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 30, maxLength: 34 }), (bytes) => {
      const text = getBase58Decoder().decode(bytes)
      expect(parseSolanaAddress(text)).toBe(bytes.length === 32 ? text : undefined)
    }),
  )
  for (const text of [
    '',
    '0x00',
    '1'.repeat(31),
    '1'.repeat(33),
    ` ${NATIVE_SOL}`,
    'O'.repeat(32),
    'ü'.repeat(32),
  ]) {
    expect(parseSolanaAddress(text)).toBeUndefined()
  }
  expect(parseSolanaAddress(NATIVE_SOL)).toBe(NATIVE_SOL)
})

test('half of all addresses have no key, and an invalid address has none either', () => {
  expect(isOnCurve('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA')).toBe(true)
  expect(isOnCurve('nonsense')).toBe(false)
})

test('base64 has one canonical form', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 64 }), (bytes) => {
      expect(fromBase64(toBase64(bytes))).toEqual(bytes)
    }),
  )
  for (const text of ['', 'A', 'AA', 'AA=', 'AB==', 'AAA', 'AAA=\n', 'AA==AA==', '-_==', 'A A=', '====']) {
    expect(fromBase64(text)).toBeUndefined()
  }
})
