import { expect, test } from 'vitest'
import type { Context } from '../context.ts'
import { assertRecipient, assertWithinCaps, reasonsToAsk } from './judge.ts'
import { type GivenRules, mergeGiven, toRules } from './rules.ts'
import { parseCents, worthOf } from './usd.ts'

const OWN = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const FRIEND = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
const nobody = () => undefined
const usual = toRules({}, [OWN], nobody)

test('without settings a swap is worth at most 100 USD, 24 hours 1000 USD, and above 25 USD somebody is asked', () => {
  const spentCents = 90_000n

  expect(() => assertWithinCaps({ cents: 10_000n, spentCents }, usual)).not.toThrow()
  expect(() => assertWithinCaps({ cents: 10_001n, spentCents: 0n }, usual)).toThrow(/at most 100.00 USD/)
  expect(() => assertWithinCaps({ cents: 9_000n, spentCents: 91_001n }, usual)).toThrow(/89.99 USD is left/)
  expect(reasonsToAsk({ cents: 2_500n, hasHighImpact: false, isUnbounded: false }, usual)).toEqual([])
  expect(reasonsToAsk({ cents: 2_501n, hasHighImpact: false, isUnbounded: false }, usual)).toHaveLength(1)
})

test('what nobody can price is refused, or asked about where it is allowed', () => {
  const cents = worthOf({ outputUsd: '1.00' })
  const lax = toRules({ allowUnknownValue: 'true' }, [], nobody)

  expect(() => assertWithinCaps({ cents, spentCents: 0n }, usual)).toThrow(/not known/)
  expect(() => assertWithinCaps({ cents, spentCents: 0n }, lax)).not.toThrow()
  expect(reasonsToAsk({ cents, hasHighImpact: false, isUnbounded: false }, lax)).toHaveLength(1)
})

test('a swap is worth the larger of what is paid and what is bought, to the cent', () => {
  expect(worthOf({ inputUsd: '10.00', outputUsd: '9.99' })).toBe(1_000n)
  expect(worthOf({ inputUsd: '0.01', outputUsd: '12345678.90' })).toBe(1_234_567_890n)
  expect(worthOf({ inputUsd: '-5.00', outputUsd: '1.00' })).toBeUndefined()
  expect(['7', '7.5', '7.50', '7.501', '1e3', ''].map(parseCents)).toEqual([
    ...[700n, 750n, 750n, undefined, undefined, undefined],
  ])
})

test('a swap that loses much is asked about, however small', () => {
  expect(reasonsToAsk({ cents: 1n, hasHighImpact: true, isUnbounded: false }, usual)).toHaveLength(1)
})

test('an exact output is asked about where nobody bounds what it costs', () => {
  expect(reasonsToAsk({ cents: 1n, hasHighImpact: false, isUnbounded: true }, usual)).toHaveLength(1)
})

test('only own wallets and those that are named may be paid, however their address is written', () => {
  const wider = toRules({ recipients: ` ${FRIEND.toLowerCase()}, bot ` }, [OWN], (name) =>
    name === 'bot' ? 'bot-address' : undefined,
  )

  expect(() => assertRecipient(OWN, usual)).not.toThrow()
  expect(() => assertRecipient(FRIEND, usual)).toThrow(/not one of the recipients/)
  for (const each of [OWN, FRIEND, 'bot-address']) expect(() => assertRecipient(each, wider)).not.toThrow()
})

test.each([
  [{ maxSwapUsd: 'lots' }],
  [{ maxDayUsd: '-1' }],
  [{ confirmAboveUsd: '' }],
  [{ waitSeconds: '601' }],
  [{ allowUnknownValue: 'yes' }],
  [{ recipients: 'nobody' }],
])('a limit that cannot be read stops the start: %o', (given) => {
  expect(() => toRules(given, [], nobody)).toThrow(/is not a value for/)
})

test.each<[string, GivenRules, GivenRules, Record<string, string>, GivenRules]>([
  [
    'flags go before all',
    { maxSwapUsd: '1' },
    { maxSwapUsd: '2' },
    { 'mcp.maxSwapUsd': '3' },
    { maxSwapUsd: '1' },
  ],
  [
    'the environment before the file',
    {},
    { maxSwapUsd: '2' },
    { 'mcp.maxSwapUsd': '3' },
    { maxSwapUsd: '2' },
  ],
  ['the file where nothing else is said', {}, {}, { 'mcp.maxSwapUsd': '3' }, { maxSwapUsd: '3' }],
  [
    'a flag that is not set says nothing',
    { maxSwapUsd: undefined },
    {},
    { 'mcp.maxSwapUsd': '3' },
    { maxSwapUsd: '3' },
  ],
  ['other settings are no rules', {}, {}, { maxSwapUsd: '3', wallet: 'bot' }, {}],
])('of the rules %s', (_, flags, mcp, kept, merged) => {
  expect(mergeGiven(flags, { mcp, config: { read: () => kept } as unknown as Context['config'] })).toEqual(
    merged,
  )
})

test('settings are read as what they are', () => {
  const given = { maxSwapUsd: '2.50', maxDayUsd: '7', confirmAboveUsd: '0', waitSeconds: '600' }

  expect(toRules({ ...given, allowUnknownValue: 'true' }, [], nobody)).toEqual({
    ...{ maxSwapCents: 250n, maxDayCents: 700n, confirmAboveCents: 0n, waitMs: 600_000 },
    ...{ allowsUnknownValue: true, recipients: new Set() },
  })
  expect(usual).toMatchObject({ allowsUnknownValue: false, waitMs: 45_000 })
})

test('a day that is used up leaves nothing, and what is just left may be spent', () => {
  expect(() => assertWithinCaps({ cents: 1n, spentCents: 100_000n }, usual)).toThrow(/, 0\.00 USD is left/)
  expect(() => assertWithinCaps({ cents: 1n, spentCents: 200_000n }, usual)).toThrow(/, 0\.00 USD is left/)
  expect(() => assertWithinCaps({ cents: 1n, spentCents: 99_999n }, usual)).not.toThrow()
})
