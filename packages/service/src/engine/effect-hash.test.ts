import { expect, test } from 'vitest'
import { stub } from '../../test/support/stub.ts'
import type { TxRequest } from '../chains/chain.ts'
import { effectHash } from './nonces.ts'

const request = { to: '0x01', gas: 60_000, calls: [{ data: '0x', value: null }, { value: 'b' }] }
const hashOf = (change: object = {}) => effectHash(stub<TxRequest>({ ...request, ...change }))

test('a request has the same effect however its fields are ordered, in lists too', () => {
  const { to, gas, calls } = request

  expect(hashOf({ calls: [{ value: null, data: '0x' }, { value: 'b' }] })).toBe(hashOf())
  expect(effectHash(stub<TxRequest>({ gas, calls, to }))).toBe(hashOf())
  expect(effectHash(stub<TxRequest>({ calls, to, gas }))).toBe(hashOf())
})

test.each([
  ['another number', { gas: 60_001 }],
  ['another text', { to: '0x02' }],
  ['another field', { from: '0x01' }],
  ['a list in another order', { calls: [...request.calls].reverse() }],
  ['a list instead of numbered fields', { calls: { ...request.calls } }],
])('a request with %s has another effect', (_, change) => {
  expect(hashOf(change)).not.toBe(hashOf())
})
