import { expect, test } from 'vitest'
import { exploreSwap, findEndless } from './model.ts'
import { baseRules, type Rules } from './rules.ts'

const toSolana: Rules = { ...baseRules, destination: 'solana' }

// The counts are part of the test: a model that lost a behaviour would pass all other tests.
const cases: readonly { name: string; rules: Rules; states: number; steps: number }[] = [
  { name: 'EVM to EVM', rules: baseRules, states: 539, steps: 1_381 },
  { name: 'EVM to Solana', rules: toSolana, states: 541, steps: 1_384 },
  { name: 'Solana to EVM', rules: { ...baseRules, origin: 'solana' }, states: 1_075, steps: 3_498 },
  { name: 'Solana to Solana', rules: { ...toSolana, origin: 'solana' }, states: 1_077, steps: 3_501 },
]

for (const { name, rules, ...expected } of cases) {
  test(`${name}: ${expected.states} states and ${expected.steps} steps break no invariant`, () => {
    const { states, steps, violations } = exploreSwap(rules)

    expect([...violations]).toEqual([])
    expect({ states, steps }).toEqual(expected)
  })

  test(`INV-8 ${name}: a swap can end from every state, also after a crash`, () => {
    expect(exploreSwap(rules).deadEnds).toEqual([])
  })

  test(`INV-8 ${name}: every swap ends if each step that stays possible is taken eventually`, () => {
    expect(findEndless(rules)).toEqual([])
  })
}

// Two layers protect each property: with one removed, the other holds.
const layers: readonly { name: string; rules: Rules; states: number; isLogLost?: boolean }[] = [
  { name: 'the marker alone', rules: { ...toSolana, signsAgainAfterDeath: false }, states: 3_828 },
  { name: 'the proof of death alone', rules: { ...toSolana, hasDeliveryGuard: false }, states: 541 },
  { name: 'the database’s triggers alone', rules: { ...baseRules, comparesVersion: false }, states: 634 },
  { name: 'the compared version alone', rules: { ...baseRules, hasTriggers: false }, states: 539 },
  {
    ...{ name: 'a lost log and a final block past the fill deadline', states: 1_868, isLogLost: true },
    rules: { ...baseRules, writesAhead: false, refundNeeds: 'silence' },
  },
  {
    ...{ name: 'a lost log and a wait for every attempt’s end', states: 1_994, isLogLost: true },
    rules: { ...toSolana, writesAhead: false, refundNeeds: 'silence' },
  },
]

for (const { name, rules, isLogLost, ...expected } of layers) {
  test(`${name}: ${expected.states} states break no invariant`, () => {
    const ignored = isLogLost ? (['INV-9 written ahead'] as const) : []

    const { states, violations, deadEnds } = exploreSwap(rules, { ignored })

    expect([...violations]).toEqual([])
    expect(deadEnds).toEqual([])
    expect(states).toBe(expected.states)
  })
}
