import { stub } from '@geoswap/protocol/test/stub'
import type { Context } from '@geoswap/wallet/context'
import { expect, test } from 'vitest'
import { type GivenRules, listOf, losesMuch, mergeGiven, toRules } from './rules.ts'

const OWN = `0x${'1'.repeat(40)}`
const OTHER = `0x${'2'.repeat(40)}`
const rulesOf = (given: GivenRules) =>
  toRules(given, [OWN], (name) => (name === 'savings' ? '0xsavings' : undefined))

test('without settings the limits are those of the documentation', () => {
  expect(rulesOf({})).toEqual({
    maxSwapCents: 10_000n,
    maxDayCents: 100_000n,
    confirmAboveCents: 2_500n,
    recipients: new Set([OWN]),
    allowsUnknownValue: false,
    waitMs: 45_000,
  })
})

test('each limit can be set', () => {
  const given = { maxSwapUsd: '2.50', maxDayUsd: '7', confirmAboveUsd: '0', allowUnknownValue: 'true' }

  expect(rulesOf({ ...given, waitSeconds: '600', recipients: `${OTHER}, savings,` })).toEqual({
    maxSwapCents: 250n,
    maxDayCents: 700n,
    confirmAboveCents: 0n,
    recipients: new Set([OWN, OTHER, '0xsavings']),
    allowsUnknownValue: true,
    waitMs: 600_000,
  })
  expect(rulesOf({ waitSeconds: '0' }).waitMs).toBe(0)
})

test.each<[GivenRules]>([
  [{ waitSeconds: '601' }],
  [{ waitSeconds: '-1' }],
  [{ waitSeconds: '1.5' }],
  [{ maxSwapUsd: 'much' }],
  [{ maxDayUsd: '-1' }],
  [{ allowUnknownValue: 'yes' }],
  [{ recipients: 'nobody' }],
])('%j is refused', (given) => {
  expect(() => rulesOf(given)).toThrow('is not a value for')
})

test('flags precede the environment, and that the configuration', () => {
  const context = stub<Context>({
    mcp: { maxSwapUsd: '2', maxDayUsd: '2', waitSeconds: undefined },
    config: { read: () => ({ 'mcp.maxSwapUsd': '3', 'mcp.waitSeconds': '3', url: 'http://other' }) },
  })

  expect(mergeGiven({ maxSwapUsd: '1' }, context)).toEqual({
    maxSwapUsd: '1',
    maxDayUsd: '2',
    waitSeconds: '3',
  })
})

test.each([
  [undefined, false],
  [{ lossBps: 499 }, false],
  [{ lossBps: 500 }, true],
  [{ lossBps: undefined }, true],
])('a swap %j before a payment loses much: %s', (swap, isMuch) => {
  expect(losesMuch(swap)).toBe(isMuch)
})

test('a list leaves out what is empty', () => {
  expect(listOf(undefined)).toEqual([])
  expect(listOf(' a ,, b')).toEqual(['a', 'b'])
})
