import type { StatusReply } from '@geoswap/sdk'
import { expect, test } from 'vitest'
import type { Order } from '../store/journal.ts'
import { whereIsMoney } from './follow.ts'

const USDC = { token: '0x5FbDB2315678afecb367f032d93F642f64180aa3', symbol: 'USDC', decimals: 6 }
const order: Order = {
  service: 'http://service',
  wallet: { name: 'bot', address: '0x90F79bf6EB2c4f870365E785982E1f101E93b906' },
  from: { chainId: 1, chain: 'alpha', ...USDC },
  to: { chainId: 2, chain: 'beta', ...USDC },
  recipient: '0xRecipient',
  tradeType: 'exactInput',
  amount: '10000000',
}
const amounts = { input: '10000000', quotedOutput: '9900000', minOutput: '9800000' }
const base = { status: 'pending', originChain: 1, destinationChain: 2, amounts } as const
const locked = { ...base, originTxHash: '0xlock' }
const refund = { reason: 'NO_LIQUIDITY', amount: '10000000', token: USDC.token, txHash: '0xback' } as const

type Case = [Partial<StatusReply> & Pick<StatusReply, 'substatus'>, string]
const cases: Case[] = [
  [{ substatus: 'accepted' }, 'accepted: 10 USDC on alpha is still in the wallet'],
  [{ ...locked, substatus: 'locked' }, '10 USDC on alpha is locked at the escrow of alpha in tx 0xlock'],
  [
    { ...locked, substatus: 'delivering' },
    '10 USDC on alpha is locked at the escrow of alpha; delivering 9.9 USDC on beta',
  ],
  [
    {
      ...locked,
      substatus: 'delivering',
      amounts: { ...amounts, riskPremium: { amount: '5000', returned: true, output: '9905000' } },
    },
    '10 USDC on alpha is locked at the escrow of alpha; delivering 9.905 USDC on beta',
  ],
  [
    {
      ...locked,
      substatus: 'delivering',
      amounts: { ...amounts, repriced: { output: '9850000', reason: 'PRICE_MOVED' } },
    },
    '10 USDC on alpha is locked at the escrow of alpha; delivering 9.85 USDC on beta',
  ],
  [
    {
      ...locked,
      substatus: 'delivered',
      deliveryTxHash: '0xpaid',
      amounts: { ...amounts, delivered: '9950000' },
    },
    '9.95 USDC on beta was delivered to 0xRecipient in tx 0xpaid',
  ],
  [{ ...locked, substatus: 'refunded', refund }, '10 USDC on alpha was refunded to the wallet in tx 0xback'],
  [
    { ...locked, substatus: 'refunded', refund: { ...refund, credited: true } },
    '10 USDC on alpha is at the escrow of alpha for the wallet to withdraw in tx 0xback',
  ],
  [{ substatus: 'failed' }, 'failed: 10 USDC on alpha never left the wallet'],
]

test.each(cases)('%j tells where the money is', (swap, told) => {
  expect(whereIsMoney({ ...base, ...swap }, order)).toBe(told)
})

test('a swap of another machine is told without amounts', () => {
  const told = whereIsMoney({ ...locked, substatus: 'locked' }, undefined)

  expect(told).toBe('the input on chain 1 is locked at the escrow of chain 1 in tx 0xlock')
})
