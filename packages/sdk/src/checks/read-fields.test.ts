import { hashGeoOp } from '@geoswap/protocol'
import { expect, test } from 'vitest'
import { evmQuote, evmRequest, opFor, origin, toJson } from '../../test/evm-offer.ts'
import { TamperedOperationError } from '../errors.ts'
import { readAddress, readGeoOp, readText, readUint, toFields } from './read-fields.ts'

const LARGEST = (1n << 256n) - 1n

test.each<[unknown, bigint]>([
  ['0', 0n],
  ['10', 10n],
  [`${LARGEST}`, LARGEST],
])('%s is an amount', (value, amount) => {
  expect(readUint({ value }, 'value')).toBe(amount)
})

test.each([`${LARGEST + 1n}`, '-1', '01', '0x10', '1e3', ' 1', '', 1, 1n, ['1'], undefined])(
  '%s is no amount',
  (value) => {
    expect(() => readUint({ value }, 'value')).toThrow(TamperedOperationError)
  },
)

test.each(['0x12', 'text', 1, [`0x${'1'.repeat(40)}`], undefined])('%j is no address', (value) => {
  expect(() => readAddress({ value }, 'value')).toThrow(TamperedOperationError)
})

test('an address is read in any case of letters', () => {
  expect(readAddress({ value: `0x${'aB'.repeat(20)}` }, 'value').toLowerCase()).toBe(`0x${'ab'.repeat(20)}`)
})

test('only text is text, and only objects have fields', () => {
  expect(readText({ value: 'USDC' }, 'value')).toBe('USDC')
  expect(() => readText({ value: 1 }, 'value')).toThrow(TamperedOperationError)
  for (const value of [null, 'text', undefined])
    expect(() => toFields(value, 'f')).toThrow(TamperedOperationError)
})

const op = opFor(evmRequest, evmQuote)
const told = toJson(op)

test('an op is read as it was built', () => {
  expect(hashGeoOp(origin, readGeoOp(told))).toBe(hashGeoOp(origin, op))
})

test.each([
  `0x${'1'.repeat(63)}`,
  `0x${'1'.repeat(65)}`,
  '1'.repeat(64),
  `0x${'g'.repeat(64)}`,
  1,
  [`0x${'1'.repeat(64)}`],
])('an op whose recipient is %j is refused', (recipient) => {
  const delivery = { ...(told['delivery'] as object), recipient }

  expect(() => readGeoOp({ ...told, delivery })).toThrow(TamperedOperationError)
})
