import { expect, test } from 'vitest'
import { isContract, judgeTreasury } from './treasury-code.ts'

const on = (name: string, isThere: boolean | undefined) => ({ chain: { name }, isThere })

test('a treasury that is a contract on one chain has to be one on all', () => {
  expect(judgeTreasury('0xabc', [on('base', true), on('arbitrum', false), on('silent', undefined)])).toBe(
    'The treasury 0xabc is a contract on base and has no code on arbitrum: create it there at the same address first',
  )
  expect(judgeTreasury('0xabc', [on('base', true), on('arbitrum', true)])).toBeUndefined()
  expect(judgeTreasury('0xabc', [on('base', false), on('arbitrum', false)])).toBeUndefined()
})

test('a key with a delegation is no contract', () => {
  expect(isContract(`0xef0100${'11'.repeat(20)}`)).toBe(false)
  expect(isContract('0x6001')).toBe(true)
  expect(isContract(undefined)).toBe(false)
})
