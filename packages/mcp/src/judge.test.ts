import { stub } from '@geoswap/protocol/test/stub'
import type { Context } from '@geoswap/wallet/context'
import { expect, test } from 'vitest'
import {
  assertRecipient,
  assertWithinCaps,
  type GivenRules,
  mergeGiven,
  parseCents,
  reasonsToAsk,
  toRules,
  valueCentsOf,
} from './rules.ts'

const OWN = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const FRIEND = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
const nobody = () => undefined
const usual = toRules({}, [OWN], nobody)

test('the default limits are 100 USD a swap and 1000 USD in 24 hours, with confirmation above 25 USD', () => {
  const spentCents = 90_000n

  expect(() => assertWithinCaps({ cents: 10_000n, spentCents }, usual)).not.toThrow()
  expect(() => assertWithinCaps({ cents: 10_001n, spentCents: 0n }, usual)).toThrow(/at most 100.00 USD/)
  expect(() => assertWithinCaps({ cents: 9_000n, spentCents: 91_001n }, usual)).toThrow(/89.99 USD is left/)
  expect(reasonsToAsk({ cents: 2_500n, hasHighImpact: false, isUnbounded: false }, usual)).toEqual([])
  expect(reasonsToAsk({ cents: 2_501n, hasHighImpact: false, isUnbounded: false }, usual)).toHaveLength(1)
})

test('a swap without a price is refused, or confirmed where the rules allow it', () => {
  const cents = valueCentsOf({ outputUsd: '1.00' })
  const lax = toRules({ allowUnknownValue: 'true' }, [], nobody)

  expect(() => assertWithinCaps({ cents, spentCents: 0n }, usual)).toThrow(/not known/)
  expect(() => assertWithinCaps({ cents, spentCents: 0n }, lax)).not.toThrow()
  expect(reasonsToAsk({ cents, hasHighImpact: false, isUnbounded: false }, lax)).toHaveLength(1)
})

test('the value of a swap is the larger of input and output, to the cent', () => {
  expect(valueCentsOf({ inputUsd: '10.00', outputUsd: '9.99' })).toBe(1_000n)
  expect(valueCentsOf({ inputUsd: '0.01', outputUsd: '12345678.90' })).toBe(1_234_567_890n)
  expect(valueCentsOf({ inputUsd: '-5.00', outputUsd: '1.00' })).toBeUndefined()
  expect(['7', '7.5', '7.50', '7.501', '1e3', ''].map(parseCents)).toEqual([
    700n,
    750n,
    750n,
    undefined,
    undefined,
    undefined,
  ])
})

test('a swap that loses much value must be confirmed, however small', () => {
  expect(reasonsToAsk({ cents: 1n, hasHighImpact: true, isUnbounded: false }, usual)).toHaveLength(1)
})

test('an exact output without a limit on its input must be confirmed', () => {
  expect(reasonsToAsk({ cents: 1n, hasHighImpact: false, isUnbounded: true }, usual)).toHaveLength(1)
})

test('only own wallets and named recipients may be paid, however their address is written', () => {
  const wider = toRules({ recipients: ` ${FRIEND.toLowerCase()}, bot ` }, [OWN], (name) =>
    name === 'bot' ? 'bot-address' : undefined,
  )

  expect(() => assertRecipient(OWN, usual)).not.toThrow()
  expect(() => assertRecipient(FRIEND, usual)).toThrow(/not an allowed recipient/)
  for (const each of [OWN, FRIEND, 'bot-address']) expect(() => assertRecipient(each, wider)).not.toThrow()
})

test.each([
  [{ maxSwapUsd: 'lots' }],
  [{ maxDayUsd: '-1' }],
  [{ confirmAboveUsd: '' }],
  [{ waitSeconds: '601' }],
  [{ allowUnknownValue: 'yes' }],
  [{ recipients: 'nobody' }],
])('an invalid limit prevents the start: %o', (given) => {
  expect(() => toRules(given, [], nobody)).toThrow(/is not a value for/)
})

test.each<[string, GivenRules, GivenRules, Record<string, string>, GivenRules]>([
  [
    'flags take precedence',
    { maxSwapUsd: '1' },
    { maxSwapUsd: '2' },
    { 'mcp.maxSwapUsd': '3' },
    { maxSwapUsd: '1' },
  ],
  [
    'the environment takes precedence over the file',
    {},
    { maxSwapUsd: '2' },
    { 'mcp.maxSwapUsd': '3' },
    { maxSwapUsd: '2' },
  ],
  ['the file applies if nothing else is set', {}, {}, { 'mcp.maxSwapUsd': '3' }, { maxSwapUsd: '3' }],
  [
    'a flag that is not set has no effect',
    { maxSwapUsd: undefined },
    {},
    { 'mcp.maxSwapUsd': '3' },
    { maxSwapUsd: '3' },
  ],
  ['other settings are not rules', {}, {}, { maxSwapUsd: '3', wallet: 'bot' }, {}],
])('for the rules, %s', (_, flags, mcp, kept, merged) => {
  expect(mergeGiven(flags, { mcp, config: stub<Context['config']>({ read: () => kept }) })).toEqual(merged)
})

test('settings are parsed to their types', () => {
  const given = { maxSwapUsd: '2.50', maxDayUsd: '7', confirmAboveUsd: '0', waitSeconds: '600' }

  expect(toRules({ ...given, allowUnknownValue: 'true' }, [], nobody)).toEqual({
    maxSwapCents: 250n,
    maxDayCents: 700n,
    confirmAboveCents: 0n,
    waitMs: 600_000,
    allowsUnknownValue: true,
    recipients: new Set(),
  })
  expect(usual).toMatchObject({ allowsUnknownValue: false, waitMs: 45_000 })
})

test('a used-up day leaves nothing, and the exact remainder may be spent', () => {
  expect(() => assertWithinCaps({ cents: 1n, spentCents: 100_000n }, usual)).toThrow(/, 0\.00 USD is left/)
  expect(() => assertWithinCaps({ cents: 1n, spentCents: 200_000n }, usual)).toThrow(/, 0\.00 USD is left/)
  expect(() => assertWithinCaps({ cents: 1n, spentCents: 99_999n }, usual)).not.toThrow()
})
