import { authorizationOf, depositAddressOf, type GeoOp, permitOf, toTokenTypedData } from '@geoswap/protocol'
import { stub } from '@geoswap/protocol/test/stub'
import type { BuildGeoOpReply, OriginMethod } from '@geoswap/wire'
import { encodeFunctionData, erc20Abi, getAddress, zeroAddress } from 'viem'
import { expect, test } from 'vitest'
import { TamperedOperationError } from '../errors.ts'
import { type CheckedOp, checkPayment } from './payment.ts'

const at = (digit: string) => getAddress(`0x${digit.repeat(40)}`)
const [escrow, hash] = [at('e'), `0x${'7'.repeat(64)}`] as const
const op = stub<GeoOp>({
  ...{ wallet: at('a'), inputToken: at('c'), inputAmount: 1_000n, opDeadline: 50n },
  delivery: { minOutput: 9n },
})
const checked: CheckedOp = { chainId: 1, escrow, hash, op }
const domain = { name: 'USDC', version: '2', chainId: 1, verifyingContract: at('c') }

const authorization = toTokenTypedData(domain, {
  primaryType: 'ReceiveWithAuthorization',
  message: authorizationOf({ escrow }, hash, op),
})
const permit = toTokenTypedData(domain, {
  primaryType: 'Permit',
  message: permitOf({ escrow }, hash, { ...op, nonce: 3n }),
})
const depositAddress = depositAddressOf(escrow, hash)

const check = (method: OriginMethod, build: object) =>
  checkPayment({ method, ...build } as BuildGeoOpReply, method, checked)

const refused = (method: OriginMethod, build: object) => {
  try {
    check(method, build)
  } catch (error) {
    if (error instanceof TamperedOperationError) return error.differences.map(({ field }) => field)
    throw error
  }
  throw new Error('Expected a refusal')
}

test('a delegated wallet signs the op itself, whatever typed data the service sends', () => {
  const { typedData } = check('delegation', { typedData: permit }) as { typedData: typeof permit }

  expect(typedData).toMatchObject({
    primaryType: 'GeoOp',
    domain: { chainId: 1, verifyingContract: escrow },
    message: { wallet: at('a'), inputAmount: '1000', delivery: { minOutput: '9' } },
  })
  expect(checkPayment({} as BuildGeoOpReply, 'delegation', checked)).toEqual({ typedData })
})

test('typed data of the token is signed if it says what the op does', () => {
  expect(check('authorization', { typedData: authorization })).toEqual({ typedData: authorization })
  expect(check('permit', { typedData: permit })).toEqual({ typedData: permit })
})

const args = [depositAddress, 1_000n] as const
const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args })
const transaction = { chainId: 1, to: at('c').toLowerCase(), data, value: '0' }
const calls = [{ to: at('c'), data, value: '0x0' }]
const sendCalls = { version: '2.0.0', from: at('a'), chainId: '0x1', atomicRequired: false, calls }

test.each(['deposit', 'transfer'] as const)('a %s goes to the address of the op', (method) => {
  const payment = {
    ...{ chainId: 1, to: depositAddress, token: at('c'), amount: 1_000n, until: 50, opDeadline: 50 },
    transaction: { chainId: 1, to: at('c'), data, value: 0n },
  }

  expect(check(method, { depositAddress })).toEqual(payment)
  const until = { depositUntil: new Date(20_000).toISOString() }
  expect(check(method, { depositAddress, transaction, sendCalls, ...until })).toEqual({
    ...payment,
    until: 20,
  })
})

test('native coin goes there without data', () => {
  const coin = { ...checked, op: { ...op, inputToken: zeroAddress } }
  const build = { method: 'transfer', depositAddress } as BuildGeoOpReply

  expect(checkPayment(build, 'transfer', coin)).toMatchObject({
    transaction: { chainId: 1, to: depositAddress, data: '0x', value: 1_000n },
  })
})

test.each<[string, object, string]>([
  ['another call', { transaction: { ...transaction, data: '0x' } }, 'transaction.data'],
  ['coin beside the token', { transaction: { ...transaction, value: '1' } }, 'transaction.value'],
  ['another chain', { transaction: { ...transaction, chainId: 2 } }, 'transaction.chainId'],
  ['another wallet', { sendCalls: { ...sendCalls, from: at('b') } }, 'sendCalls.from'],
  ['a call beside it', { sendCalls: { ...sendCalls, calls: [...calls, ...calls] } }, 'sendCalls.calls'],
  ['a batch of no calls', { sendCalls: { ...sendCalls, calls: [] } }, 'sendCalls.calls'],
  ['calls that are no list', { sendCalls: { ...sendCalls, calls: { ...calls } } }, 'sendCalls.calls'],
  ['nothing for a call', { sendCalls: { ...sendCalls, calls: [null] } }, 'sendCalls.calls'],
  ['a batch with more', { sendCalls: { ...sendCalls, capabilities: {} } }, 'sendCalls.capabilities'],
  [
    'a call with more',
    { sendCalls: { ...sendCalls, calls: [{ ...calls[0], capabilities: {} }] } },
    'sendCalls.calls.capabilities',
  ],
  [
    'an other call of a batch',
    { sendCalls: { ...sendCalls, calls: [{ ...calls[0], to: at('b') }] } },
    'sendCalls.calls.to',
  ],
])('a service that prepared %s is refused', (_, build, field) => {
  expect(refused('transfer', { depositAddress, ...build })).toEqual([field])
})

test('another way than the asked one is refused', () => {
  expect(refused('permit', { method: 'authorization', typedData: permit })).toEqual(['method'])
  expect(refused('deposit', { method: undefined, depositAddress })).toEqual(['method'])
})

test('a deposit to another address is refused', () => {
  expect(refused('deposit', { depositAddress: at('b') })).toEqual(['depositAddress'])
  expect(refused('transfer', { depositAddress: at('b') })).toEqual(['depositAddress'])
})

type Data = typeof authorization
const place = (changed: object) => (data: Data) => ({ ...data, domain: { ...data.domain, ...changed } })
const message = (changed: object) => (data: Data) => ({ ...data, message: { ...data.message, ...changed } })

test.each<[string, Data, (data: Data) => object, string[]]>([
  ['of another type', authorization, (data) => ({ ...data, primaryType: 'Permit' }), ['primaryType']],
  ['for another chain', authorization, place({ chainId: 2 }), ['domain.chainId']],
  ['for another token', permit, place({ verifyingContract: at('b') }), ['domain.verifyingContract']],
  ['of another amount', authorization, message({ value: '1001' }), ['message.value']],
  ['to another spender', permit, message({ spender: at('b') }), ['message.spender']],
  ['with one field more', permit, message({ extra: '1' }), ['message.extra']],
  ['with one field less', authorization, message({ nonce: undefined }), ['message.nonce']],
  [
    'with several differences',
    authorization,
    (data) => place({ chainId: 2 })(message({ value: '1' })(data) as Data),
    ['domain.chainId', 'message.value'],
  ],
])('typed data %s is refused', (_, data, change, fields) => {
  const method = data.primaryType === 'Permit' ? 'permit' : 'authorization'

  expect(refused(method, { typedData: change(data) })).toEqual(fields.map((field) => `typedData.${field}`))
})
