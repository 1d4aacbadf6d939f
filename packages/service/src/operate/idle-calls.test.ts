import { expect, test } from 'vitest'
import { idleCallsOf } from './idle-calls.ts'

test('the calls of a chain that was not measured are the most of its family', () => {
  const evm = ['ethereum', 'base', 'arbitrum'].map((name) => idleCallsOf({ name, family: 'evm' }))
  const most = Math.max(...evm.map(({ perSecond }) => perSecond))

  expect(idleCallsOf({ name: 'polygon', family: 'evm' }).perSecond).toBe(most)
  expect(idleCallsOf({ name: 'devnet', family: 'solana' }).measuredOn).toBe('solana')
})

test('a month has 30 days', () => {
  const { perSecond, perMonth } = idleCallsOf({ name: 'base', family: 'evm' })

  expect(perMonth).toBe(Math.round(perSecond * 2_592_000))
})
