import { expect, test } from 'vitest'
import type { Token } from '../../swap/catalog.ts'
import { findTokenOf } from './session.ts'

const beta = { config: { name: 'beta', chainId: 2 } }
const usdc = { chainId: 2, address: '0x01', symbol: 'USDC', decimals: 6, asset: 'USDC' }
const session = (chains: [number, { tokens: Token[] }][]) => ({ catalog: { chains: new Map(chains) } })

test('tokens of an unreachable chain are unknown', () => {
  expect(() => findTokenOf(session([]), beta, 'USDC')).toThrow('beta does not answer')
})

test('the error about an unknown token lists the known ones', () => {
  const answering = session([[2, { tokens: [usdc] }]])

  expect(() => findTokenOf(answering, beta, 'DAI')).toThrow('beta has no token DAI. Tokens: USDC.')
})
