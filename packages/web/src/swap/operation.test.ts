import { expect, test } from 'vitest'
import { deadlinesOf, fieldsOf } from './operation.ts'

const evm = {
  domain: { chainId: 31337 },
  types: { GeoOp: [{ name: 'wallet', type: 'address' }] },
  primaryType: 'GeoOp',
  message: { wallet: '0x1', refundDeadline: '300', delivery: { minOutput: '5', fillDeadline: '200' } },
}
const solana = { wallet: '4Nd1', amount: '7', refundDeadline: 300, delivery: { fillDeadline: '200' } }

test('every signed field is shown with its path', () => {
  expect(fieldsOf(evm)).toEqual([
    { name: 'wallet', value: '0x1' },
    { name: 'refundDeadline', value: '300' },
    { name: 'delivery.minOutput', value: '5' },
    { name: 'delivery.fillDeadline', value: '200' },
    { name: 'domain.chainId', value: '31337' },
  ])
  expect(fieldsOf(solana).map(({ name }) => name)).toEqual([
    'wallet',
    'amount',
    'refundDeadline',
    'delivery.fillDeadline',
  ])
})

test('an operation of either family has a deadline after which anyone can refund', () => {
  for (const operation of [evm, solana]) expect(deadlinesOf(operation)).toEqual({ fill: 200, refund: 300 })
})
