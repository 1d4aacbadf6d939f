import { expect, test } from 'vitest'
import { isContract, judgeTreasury } from './verify-code.ts'

const on = (name: string, code: string | undefined) => ({ chain: { name }, code })

test('a treasury that is a contract on one chain has to be one on all', () => {
  expect(judgeTreasury('0xabc', [on('base', '0x1'), on('arbitrum', 'none'), on('silent', undefined)])).toBe(
    'The treasury 0xabc is a contract on base and has no code on arbitrum: create it there at the same address first',
  )
  expect(judgeTreasury('0xabc', [on('base', '0x1'), on('arbitrum', '0x1')])).toBeUndefined()
  expect(judgeTreasury('0xabc', [on('base', 'none'), on('arbitrum', 'none')])).toBeUndefined()
})

test('a treasury has to have the same code on all chains', () => {
  expect(judgeTreasury('0xabc', [on('base', '0x1'), on('arbitrum', '0x2')])).toBe(
    'The treasury 0xabc has other code on some of base, arbitrum: check who controls it on each',
  )
  expect(judgeTreasury('0xabc', [on('base', '0x1'), on('silent', undefined)])).toBeUndefined()
})

test('a key with a delegation is no contract', () => {
  expect(isContract(`0xef0100${'11'.repeat(20)}`)).toBe(false)
  expect(isContract('0x6001')).toBe(true)
  expect(isContract(undefined)).toBe(false)
})
