import { geoEscrowAbi, geoVaultAbi } from '@geoswap/protocol'
import { decodeFunctionData, erc20Abi, type Hex, zeroAddress, zeroHash } from 'viem'
import { expect, test } from 'vitest'
import { stub } from '../../../test/support/stub.ts'
import type { Op, Swap } from '../../swap/swap.ts'
import { type EvmRequest, planClaim, planDelivery, planRecover, planRefund, planTransfer } from './plans.ts'
import type { EvmChainSettings } from './settings.ts'

const addressOf = (digit: string) => `0x${digit.repeat(40)}` as Hex
const [escrow, vault, locker, token] = ['1', '2', '3', '4'].map(addressOf) as [Hex, Hex, Hex, Hex]
const settings = stub<EvmChainSettings>({ escrow, vault, ringOf: () => zeroHash })
// Its last byte is 27 plus the parity.
const signature: Hex = `0x${'11'.repeat(32)}${'22'.repeat(32)}1c`
const op = stub<Op>({
  ...{ wallet: addressOf('5'), inputToken: token, inputAmount: 7n, deliveryHash: zeroHash, locker },
  ...{ position: 1n, round: 2n, opDeadline: 100, refundDeadline: 300, fillDeadline: 200 },
  ...{ outputToken: token, quotedOutput: 9n, minOutput: 8n, recipient: addressOf('6') },
})
const swap = { op, signature } as Swap
const decode = (data: string) =>
  decodeFunctionData({ abi: [...geoEscrowAbi, ...geoVaultAbi, ...erc20Abi], data: data as Hex })
const calledBy = ({ to, data, gas }: EvmRequest) => [to, decode(data).functionName, gas]

const attested = [
  { signer: addressOf('7'), signature },
  { signer: addressOf('8'), signature },
]

test('claims and refunds have gas for each op and each signature', () => {
  const swaps = [swap, swap, swap]

  expect(calledBy(planClaim(settings, swaps, attested))).toEqual([escrow, 'claimMany', 610_000])
  expect(calledBy(planRefund(settings, swap, undefined))).toEqual([escrow, 'refund', 450_000])
  const refund = planRefund(settings, swap, { signatures: attested, validUntil: 50 })
  expect(calledBy(refund)).toEqual([escrow, 'refundAttested', 480_000])
  expect(decode(refund.data).args?.[2]).toBe(50n)
  expect(calledBy(planRecover(settings, op, token))).toEqual([escrow, 'recover', 500_000])
})

test('deliveries are paid by the vault, one by one or together', () => {
  expect(calledBy(planDelivery(settings, [op]))).toEqual([vault, 'deliver', 300_000])
  expect(calledBy(planDelivery(settings, [op, op, op]))).toEqual([vault, 'deliverMany', 900_000])
  expect(() => planDelivery(settings, [])).toThrow('No op to deliver')
})

test('a transfer is of the gas coin or of a token', () => {
  const to = addressOf('9')

  expect(planTransfer({ from: vault, to, token: zeroAddress, amount: 5n })).toEqual({
    ...{ to, data: '0x', gas: 100_000, value: '5' },
  })
  const transfer = planTransfer({ from: vault, to, token, amount: 5n })
  expect([calledBy(transfer), decode(transfer.data).args]).toEqual([
    [token, 'transfer', 200_000],
    [to, 5n],
  ])
  expect(transfer).not.toHaveProperty('value')
})
