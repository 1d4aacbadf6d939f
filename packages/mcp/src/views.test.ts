import { stub } from '@geoswap/protocol/test/stub'
import type { QuoteReply, StatusReply } from '@geoswap/sdk'
import { expect, test } from 'vitest'
import { findSide, quoteText, say, swapText, toQuoteView, toSwapView } from './views.ts'

const chains = [{ chainId: 1, name: 'alpha' }]
const tokens = [
  { chainId: 2, address: '0xAb', symbol: 'OTHER', decimals: 18 },
  { chainId: 1, address: '0xAb', symbol: 'USDC', decimals: 6 },
  { chainId: 1, address: 'Mint', symbol: 'SOL', decimals: 9 },
]
const find = (chainId: number, address?: string) =>
  findSide(stub<Parameters<typeof findSide>[0]>({ chains, tokens }), chainId, address)

test.each<[number, string | undefined, object]>([
  [1, '0xaB', { chain: 'alpha', token: '0xaB', symbol: 'USDC', decimals: 6 }],
  [1, 'Mint', { chain: 'alpha', token: 'Mint', symbol: 'SOL', decimals: 9 }],
  [1, 'mint', { chain: 'alpha', token: 'mint', symbol: undefined, decimals: undefined }],
  [2, '0xab', { chain: '2', token: '0xab', symbol: 'OTHER', decimals: 18 }],
  [1, undefined, { chain: 'alpha', token: undefined, symbol: undefined, decimals: undefined }],
])('on chain %s the token %s is known by its address there', (chainId, address, side) => {
  expect(find(chainId, address)).toEqual({ chainId, ...side })
})

test('an amount of an unknown token is told in its units', () => {
  const money = { units: '5', chain: 'alpha' }

  expect(say({ ...money, amount: '0.5', symbol: 'USDC' } as never)).toBe('0.5 USDC on alpha')
  expect(say({ ...money, token: '0x1' } as never)).toBe('5 units of 0x1 on alpha')
  expect(say(money as never)).toBe('5 units of a token on alpha')
})

test('an amount to be sent is told with every digit, a bound is never told tighter than it is', () => {
  const money = { units: '1', chain: 'alpha', symbol: 'ETH', amount: '0.001234567891', chainId: 1 }

  expect(say(money)).toBe('0.00123456 ETH on alpha')
  expect(say(money, 'up')).toBe('0.00123457 ETH on alpha')
  expect(say(money, 'exact')).toBe('0.001234567891 ETH on alpha')
})

const offer = stub<QuoteReply>({
  ...{ input: '10000000', output: '9900000', minOutput: '9800000', inputUsd: '10.00' },
  ...{ fees: [], etaSeconds: 3 },
})
const quoted = { input: offer.input, quotedOutput: offer.output, minOutput: offer.minOutput }
const swap = { swapId: 'swp_1', status: 'pending', substatus: 'locked', amounts: quoted } as StatusReply

const alpha = { chainId: 1, chain: 'alpha', symbol: 'USDC', decimals: 6 }
const beta = { ...alpha, chainId: 2, chain: 'beta' }
const tell = (changes: Partial<StatusReply>) =>
  swapText(toSwapView({ ...swap, ...changes }, { from: alpha, to: beta }))

const failure = { code: 'OPERATION_EXPIRED', message: 'Too late.' }
const amounts = { ...quoted, delivered: '9850000' }
const refund = { reason: 'UNDELIVERABLE' }

test.each<[string, object, string]>([
  ['waits', {}, 'pending (locked): 10 USDC on alpha for 9.9 USDC on beta'],
  ['was delivered', { status: 'settled', amounts }, 'settled: 10 USDC on alpha for 9.85 USDC on beta'],
  [
    'failed',
    { status: 'failed', failure },
    'failed: 10 USDC on alpha for 9.9 USDC on beta. OPERATION_EXPIRED, the service says: "Too late."',
  ],
  [
    'was refunded',
    { status: 'refunded', refund },
    'refunded: 10 USDC on alpha for 9.9 USDC on beta. UNDELIVERABLE',
  ],
  [
    'waits for a deposit',
    { substatus: 'awaitingDeposit', deposit: { address: '0x1', next: 'Send 5 units.' } },
    'pending (awaitingDeposit): 10 USDC on alpha for 9.9 USDC on beta. the service says: "Send 5 units."',
  ],
])('a swap that %s is told with its amounts and the reason', (_, changes, text) => {
  expect(tell(changes)).toBe(`swp_1 ${text}`)
})

test.each<[Partial<QuoteReply>, string, string[]]>([
  [{}, '10.00 USD', []],
  [{ inputUsd: undefined as never }, 'value not known', []],
  [
    { warnings: [{ code: 'SLOW', message: 'It waits.' }] as never },
    '10.00 USD',
    ['SLOW, the service says: "It waits."'],
  ],
])('a quote with %j is told as worth %s, with its warnings', (changes, worth, warnings) => {
  const order = { from: alpha, to: beta, wallet: { name: 'bot', address: '0x1' }, recipient: '0x2' }
  const view = toQuoteView({ ...offer, ...changes }, order as never)

  expect(quoteText(view)).toBe(
    `10 USDC on alpha (${worth}) for 9.9 USDC on beta, at least 9.8 USDC on beta, in about 3 s`,
  )
  expect(view.warnings).toEqual(warnings)
})

const speeds = [
  { speed: 'final', etaSeconds: 2_400, outputAmount: '9900000', minOutput: '9800000' },
  { speed: 'fast', etaSeconds: 4, outputAmount: '9890000', minOutput: '9790000', riskPremium: '10000' },
]

test.each([
  [
    'final',
    speeds,
    [
      'paid once final on alpha',
      'or fast: about 4 s, 9.89 USDC on beta, with a premium of 0.01 USDC on alpha',
    ],
  ],
  ['fast', speeds, ['paid before it is final on alpha', 'or final: about 2400 s, 9.9 USDC on beta']],
  ['final', undefined, ['paid once final on alpha']],
  ['slow', speeds, undefined],
  ['final', [{ speed: 'fast', etaSeconds: 4, outputAmount: 'much' }], ['paid once final on alpha']],
])('a quote that is %s says so, and names the other way of %j', (speed, offered, lines) => {
  const order = { from: alpha, to: beta, wallet: { name: 'bot', address: '0x1' }, recipient: '0x2' }
  const view = toQuoteView({ ...offer, speed, speeds: offered } as never, order as never)

  expect(view.speeds).toEqual(lines)
  expect(quoteText(view)).toContain(lines ? `in about 3 s; ${lines.join('; ')}` : 'in about 3 s')
})

test('a swap that gets its premium back is told with all that it gets', () => {
  const riskPremium = { amount: '10000', returned: true, output: '9990000' }

  expect(tell({ amounts: { ...quoted, riskPremium } })).toContain('for 9.99 USDC on beta')
})
