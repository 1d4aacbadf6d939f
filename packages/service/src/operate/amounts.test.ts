import { zeroAddress } from 'viem'
import { expect, test } from 'vitest'
import { stub } from '../../test/support/stub.ts'
import type { NetworkConfig } from '../config.ts'
import { createAmounts } from './amounts.ts'

const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const ODD = '0x4200000000000000000000000000000000000006'

const tokens = [
  { symbol: 'USDC', address: USDC, asset: 'USDC', decimals: 6 },
  { symbol: 'ODD', address: ODD, asset: 'ODD' },
]
const base = { family: 'evm', chainId: 8453, name: 'base', native: { symbol: 'ETH', asset: 'ETH' }, tokens }
const amounts = createAmounts(stub<NetworkConfig>({ chains: [base] }))

test('an amount has the name of its chain, its symbol and its decimals', () => {
  expect(amounts.amount(8453, USDC, '10500000')).toBe('10.5 base:USDC')
  expect(amounts.amount(8453, zeroAddress, 10n ** 15n)).toBe('0.001 base:ETH')
})

test('an amount of a token without known decimals, or of an unknown token, is in the smallest unit', () => {
  expect(amounts.amount(8453, ODD, '7')).toBe('7 units of base:ODD')
  expect(amounts.amount(1, USDC, '7')).toBe(`7 1:${USDC}`)
})
