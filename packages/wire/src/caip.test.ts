import { describe, expect, test } from 'vitest'
import { accountOn, fromCaip2, toCaip2, toCaip10, toCaip19, tokenOn } from './caip.ts'

const usdc = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const mint = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const base = 'eip155:8453'
const mainnet = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'
const etherNull = '0x0000000000000000000000000000000000000000'
const solNull = '11111111111111111111111111111111'

test.each([
  [{ chainId: 8453, family: 'evm' }, base],
  [{ chainId: 31337, family: 'evm' }, 'eip155:31337'],
  [{ chainId: 792703809, family: 'solana' }, mainnet],
  [{ chainId: 792703810, family: 'solana' }, 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'],
  [{ chainId: 31339, family: 'solana' }, 'solana:31339'],
] as const)('the CAIP-2 id of %j is %s, and leads back', (chain, id) => {
  expect(toCaip2(chain)).toBe(id)
  expect(fromCaip2(id)).toBe(chain.chainId)
})

test.each([
  '8453',
  'base',
  'eip155:',
  'eip155:08453',
  'eip155:0',
  'cosmos:cosmoshub-4',
  'eip155:9007199254740993',
  '',
])('%j names no chain', (text) => expect(fromCaip2(text)).toBeUndefined())

describe('ids lead back to addresses', () => {
  test.each([
    [base, usdc, `${base}/erc20:${usdc}`],
    [base, etherNull, `${base}/slip44:60`],
    ['eip155:56', etherNull, 'eip155:56/slip44:714'],
    ['eip155:137', etherNull, 'eip155:137/slip44:966'],
    [mainnet, mint, `${mainnet}/token:${mint}`],
    [mainnet, solNull, `${mainnet}/slip44:501`],
  ])('on %s token %s is %s', (chain, address, id) => {
    expect(toCaip19(chain, address)).toBe(id)
    expect(tokenOn(chain, id)).toEqual({ address })
    expect(tokenOn(chain, address)).toEqual({ address })
  })

  test('an account', () => {
    expect(toCaip10(base, usdc)).toBe(`${base}:${usdc}`)
    expect(accountOn(base, `${base}:${usdc}`)).toEqual({ address: usdc })
    expect(accountOn(base, usdc)).toEqual({ address: usdc })
  })
})

const wrongToken = (chain: string, coin: number) => ({
  problem: `must be a CAIP-19 token, such as ${chain}/erc20:ADDRESS, or ${chain}/slip44:${coin}`,
})

test('an id of another chain, of another standard, or of a coin that is not native there is refused', () => {
  const problems = [
    accountOn(base, `eip155:1:${usdc}`),
    accountOn(base, `${base}/erc20:${usdc}`),
    tokenOn(base, `eip155:1/erc20:${usdc}`),
    tokenOn(base, `${base}:${usdc}`),
    tokenOn(base, `${base}/erc721:${usdc}`),
    tokenOn('eip155:137', 'eip155:137/slip44:60'),
  ]

  expect(problems).toEqual([
    { problem: 'is on eip155:1, not on eip155:8453' },
    { problem: 'must be a CAIP-10 account, such as eip155:8453:ADDRESS' },
    { problem: 'is on eip155:1, not on eip155:8453' },
    wrongToken(base, 60),
    wrongToken(base, 60),
    wrongToken('eip155:137', 966),
  ])
})
