import { expect, test } from 'vitest'
import { chainMark, lettersOf, tokenMark } from './avatar.tsx'

const coin = (symbol: string) => ({ symbol, address: '', decimals: 9 })

test('known tokens and chains have a mark, others their letters', () => {
  expect(tokenMark('weth').path).toBeDefined()
  expect(tokenMark('PEPE').letters).toBe('PE')
  expect(chainMark({ chainId: 31339, name: 'solana', native: coin('SOL') }).path).toBeDefined()
  expect(chainMark({ chainId: 31337, name: 'alpha', native: coin('ETH') }).letters).toBe('AL')
})

test('a name without letters still has a mark, always in the same colour', () => {
  expect(lettersOf('🙂').letters).toBe('?')
  expect(lettersOf('alpha')).toEqual(lettersOf('alpha'))
})
