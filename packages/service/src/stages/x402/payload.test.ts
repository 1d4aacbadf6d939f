import { expect, test } from 'vitest'
import { readPayment, toTokenSignature } from './payload.ts'

const address = `0x${'ab'.repeat(20)}`
const authorization = {
  ...{ from: address, to: address, value: '10' },
  ...{ validAfter: '0', validBefore: '99', nonce: `0x${'01'.repeat(32)}` },
}
const payload = { signature: `0x${'11'.repeat(65)}`, authorization }
const accepted = { scheme: 'exact', network: 'eip155:1', asset: address, amount: '10', payTo: address }
const payment = { x402Version: 2, accepted, payload }
const toHeader = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64')
const withTerms = (terms: object) => ({
  ...payment,
  payload: { ...payload, authorization: { ...authorization, ...terms } },
})

test('a payment of each version is read', () => {
  const older = { x402Version: 1, scheme: 'exact', network: 'base', payload }

  expect(readPayment({ 'payment-signature': toHeader(payment) })).toEqual({
    ...{ version: 2, network: 'eip155:1', accepted },
    ...payload,
  })
  expect(readPayment({ 'x-payment': toHeader(older) })).toEqual({
    ...{ version: 1, network: 'base', accepted: undefined },
    ...payload,
  })
  expect(readPayment({ 'x-api-key': 'key' })).toBeUndefined()
})

test.each<[string, string]>([
  ['nothing', ''],
  ['no base64', '{"x402Version":2}'],
  ['half of a word', 'e'],
  ['no JSON', Buffer.from('{').toString('base64')],
  ['bytes that are no text', Buffer.from([0xff, 0xfe, 0]).toString('base64')],
  ['more than a payment has', 'a'.repeat(12_289)],
  ...[null, 1, 'text', [], {}, [payment]].map((each): [string, string] => [
    JSON.stringify(each).slice(0, 9),
    toHeader(each),
  ]),
  ['another version', toHeader({ ...payment, x402Version: 3 })],
  ['another scheme', toHeader({ ...payment, accepted: { ...accepted, scheme: 'upto' } })],
  ['no requirements', toHeader({ ...payment, accepted: undefined })],
  ['a payload of another kind', toHeader({ ...payment, payload: { receipt: 'AQ==' } })],
  ['a transaction of kilobytes', toHeader({ ...payment, payload: { transaction: 'A'.repeat(1_645) } })],
  ['a negative amount', toHeader(withTerms({ value: '-1' }))],
  ['a number as amount', toHeader(withTerms({ value: 10 }))],
  ['a short nonce', toHeader(withTerms({ nonce: '0x01' }))],
  ['a time beyond 256 bits', toHeader(withTerms({ validBefore: '9'.repeat(78) }))],
  [
    'a signature of kilobytes',
    toHeader({ ...payment, payload: { ...payload, signature: `0x${'11'.repeat(1_000)}` } }),
  ],
  ['an odd signature', toHeader({ ...payment, payload: { ...payload, signature: '0x123' } })],
])('a header with %s is one problem, which names it', (_, header) => {
  expect(readPayment({ 'payment-signature': header })).toEqual({
    field: 'payment-signature',
    message: expect.stringMatching(/^must /),
  })
})

test('fields that a caller adds to a payload are left out', () => {
  const odd = { toString: 1 }
  const added = { field: odd, message: odd, problem: odd, transaction: odd, version: 9, network: odd }
  const both = { ...payload, ...added }
  const transaction = { ...added, transaction: 'AQ==', signature: odd }

  expect(readPayment({ 'payment-signature': toHeader({ ...payment, payload: both }) })).toEqual({
    ...{ version: 2, network: 'eip155:1', accepted },
    ...payload,
  })
  expect(readPayment({ 'payment-signature': toHeader({ ...payment, payload: transaction }) })).toEqual({
    ...{ version: 2, network: 'eip155:1', accepted, transaction: 'AQ==' },
  })
})

test('a payment comes in one header', () => {
  const both = { 'payment-signature': toHeader(payment), 'x-payment': toHeader(payment) }

  expect(readPayment(both)).toMatchObject({ message: 'must be sent without x-payment' })
})

test('a signature with v 0 or 1 becomes one that tokens take', () => {
  const rs = '11'.repeat(64)

  expect(['00', '01', '1b', '1c'].map((v) => toTokenSignature(`0x${rs}${v}`).slice(-2))).toEqual([
    '1b',
    '1c',
    '1b',
    '1c',
  ])
  expect(toTokenSignature('0x1234')).toBe('0x1234')
})
