import { expect, test } from 'vitest'
import type { Token } from '../../model/catalog.ts'
import { findTokenOf } from './desk.ts'

const beta = { config: { name: 'beta', chainId: 2 } }
const usdc = { chainId: 2, address: '0x01', symbol: 'USDC', decimals: 6, asset: 'USDC' }
const desk = (chains: [number, { tokens: Token[] }][]) => ({ catalog: { chains: new Map(chains) } })

test('of a chain that does not answer nothing is said about its tokens', () => {
  expect(() => findTokenOf(desk([]), beta, 'USDC')).toThrow('beta does not answer')
})

test('a token that a chain does not have is answered with those that it has', () => {
  const answering = desk([[2, { tokens: [usdc] }]])

  expect(() => findTokenOf(answering, beta, 'DAI')).toThrow('beta has no token DAI. There are: USDC.')
})
