import { expect, test } from 'vitest'
import { findSide, say } from './views.ts'

const chains = [{ chainId: 1, name: 'alpha' }]
const tokens = [
  { chainId: 2, address: '0xAb', symbol: 'OTHER', decimals: 18 },
  { chainId: 1, address: '0xAb', symbol: 'USDC', decimals: 6 },
  { chainId: 1, address: 'Mint', symbol: 'SOL', decimals: 9 },
]
const find = (chainId: number, address?: string) =>
  findSide({ chains, tokens } as unknown as Parameters<typeof findSide>[0], chainId, address)

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
