import { encodePayment, geoEscrowAbi } from '@geoswap/protocol'
import { decodeFunctionData, type Hex, zeroHash } from 'viem'
import { expect, test } from 'vitest'
import type { EvmRequest } from '../chains/evm/plans.ts'
import { planLock } from '../chains/evm/ways.ts'
import type { Op, SignedDelegation, Swap } from '../swap/swap.ts'
import { evmWays } from './registry.ts'

const addressOf = (digit: string) => `0x${digit.repeat(40)}` as Hex
const escrow = addressOf('1')
const settings = { escrow }
// Its last byte is 27 plus the parity.
const signature: Hex = `0x${'11'.repeat(32)}${'22'.repeat(32)}1c`
const terms = { validAfter: 1n, validBefore: 101n, nonce: zeroHash }
const payment = encodePayment({ ...terms, signature })
const op = {
  ...{ wallet: addressOf('5'), inputToken: addressOf('4'), inputAmount: 7n, deliveryHash: zeroHash },
  ...{ position: 1n, round: 2n, opDeadline: 100, refundDeadline: 300 },
} as Op
const delegation = { chainId: 1 } as SignedDelegation
const swapBy = (method: Op['method'], change: Partial<Swap> = {}) =>
  ({ op: { ...op, method }, signature, ...change }) as Swap
const decode = (data: string) => decodeFunctionData({ abi: geoEscrowAbi, data: data as Hex })
const calledBy = ({ to, data, gas }: EvmRequest) => [to, decode(data).functionName, gas]

test.each<[string, Swap[], string, number]>([
  ['by delegation', [swapBy('delegation')], 'lock', 420_000],
  ['by a new delegation', [swapBy('delegation', { delegation })], 'lock', 445_000],
  ['of several', [swapBy('delegation'), swapBy('delegation')], 'lockMany', 1_000_000],
  [
    'of several with new delegations',
    [swapBy('delegation'), swapBy('delegation', { delegation }), swapBy('delegation', { delegation })],
    'lockMany',
    1_350_000,
  ],
  ['by authorization', [swapBy('authorization')], 'lockWithAuthorization', 420_000],
  [
    'by several authorizations',
    [swapBy('authorization'), swapBy('authorization')],
    'lockManyWithAuthorization',
    1_000_000,
  ],
  ['by permit', [swapBy('permit')], 'lockPermitted', 600_000],
  ['by payment', [swapBy('payment', { signature: payment })], 'lockPaid', 600_000],
  ['of a deposit', [swapBy('deposit')], 'lockDeposited', 600_000],
])('a lock %s calls the escrow with enough gas', (_, swaps, name, gas) => {
  expect(calledBy(planLock(evmWays, settings, swaps))).toEqual([escrow, name, gas])
})

test('new delegations are part of the transaction, and without one there is none', () => {
  expect(
    planLock(evmWays, settings, [swapBy('delegation'), swapBy('delegation', { delegation })]).authorizations,
  ).toEqual([delegation])
  expect(planLock(evmWays, settings, [swapBy('delegation')])).not.toHaveProperty('authorizations')
})

test.each<[string, Swap[]]>([
  ['no swap', []],
  ['swaps of two ways', [swapBy('delegation'), swapBy('authorization')]],
  ['swaps of two ways, the first by authorization', [swapBy('authorization'), swapBy('delegation')]],
  ['two permits', [swapBy('permit'), swapBy('permit')]],
  ['two deposits', [swapBy('deposit'), swapBy('deposit')]],
  ['a signature that is no payment', [swapBy('payment')]],
])('%s cannot be locked by one transaction', (_, swaps) => {
  expect(() => planLock(evmWays, settings, swaps)).toThrow()
})

test('a payment is handed to the escrow as it was signed', () => {
  const { args } = decode(planLock(evmWays, settings, [swapBy('payment', { signature: payment })]).data)

  expect(args?.slice(1)).toEqual([1n, 101n, zeroHash, signature])
})

test.each([
  ['1b', 27],
  ['1c', 28],
])('the signature of a permit that ends with %s is split as the token takes it', (end, v) => {
  const signed = swapBy('permit', { signature: `${signature.slice(0, -2)}${end}` })

  const { args } = decode(planLock(evmWays, settings, [signed]).data)

  expect(args?.slice(1)).toEqual([100n, v, `0x${'11'.repeat(32)}`, `0x${'22'.repeat(32)}`])
})
