import { type GeoOp, geoOpDomain, hashGeoOp, ringOf, toBytes32 } from '@geoswap/protocol'
import { type Address, getAddress } from 'viem'
import { expect, test } from 'vitest'
import { readOperation } from './escrow.ts'

const addressOf = (digit: string): Address => getAddress(`0x${digit.repeat(40)}`)
const origin = { chainId: 31_337, escrow: addressOf('e') }
const locker = addressOf('9')
const op: GeoOp = {
  wallet: addressOf('1'),
  inputToken: addressOf('a'),
  inputAmount: 10n,
  index: (7n << 32n) | 5n,
  locker,
  opDeadline: 100n,
  refundDeadline: 300n,
  delivery: {
    ring: ringOf({ ...origin, locker }),
    index: (7n << 32n) | 5n,
    destinationChain: 31_338n,
    vault: toBytes32(addressOf('7')),
    outputToken: toBytes32(addressOf('b')),
    minOutput: 9n,
    recipient: toBytes32(addressOf('1')),
    fillDeadline: 200n,
  },
}
const toJson = (value: object) =>
  JSON.parse(JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `${each}` : each)))
const operation = { domain: geoOpDomain(origin), message: toJson(op) }

test('an operation is parsed into the signed op', () => {
  expect(readOperation(operation)).toMatchObject({
    origin,
    locker,
    hash: hashGeoOp(origin, op),
    position: 5n,
    wallet: op.wallet,
    amount: 10n,
    refundDeadline: 300n,
  })
})

test.each([
  ['nothing', undefined],
  ['text', 'operation'],
  ['the operation of a Solana swap', { wallet: '4Nd1', delivery: operation.message.delivery }],
  ['a broken amount', { ...operation, message: { ...operation.message, inputAmount: '-1' } }],
  ['a broken escrow', { ...operation, domain: { ...operation.domain, verifyingContract: '0x1' } }],
])('USAGE for %s', (_what, value) => {
  expect(() => readOperation(value)).toThrow(expect.objectContaining({ code: 'USAGE' }))
})
