import { expect, test } from 'vitest'
import { chainMark, lettersOf, tokenMark } from './avatar.tsx'

test('known tokens and chains have a mark, others their letters', () => {
  expect(tokenMark('weth').path).toBeDefined()
  expect(tokenMark('PEPE').letters).toBe('PE')
  expect(chainMark({ chainId: 31339, name: 'solana', family: 'solana' }).path).toBeDefined()
  expect(chainMark({ chainId: 31337, name: 'alpha', family: 'evm' }).letters).toBe('AL')
})

test('a name without letters still has a mark, always in the same colour', () => {
  expect(lettersOf('🙂').letters).toBe('?')
  expect(lettersOf('alpha')).toEqual(lettersOf('alpha'))
})
