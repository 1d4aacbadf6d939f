import { expect, test } from 'vitest'
import { exploreSwap, findEndless } from './model.ts'
import { baseRules, type Rules, softRules } from './rules.ts'
import { isDeposited, isPast } from './state.ts'

const deposit = { input: 'deposit' } as const
const cases: readonly { name: string; rules: Rules; states: number }[] = [
  { name: 'EVM to EVM', rules: { ...baseRules, ...deposit }, states: 717 },
  { name: 'EVM to Solana', rules: { ...baseRules, ...deposit, destination: 'solana' }, states: 719 },
  { name: 'EVM to EVM, soft finality', rules: { ...softRules, ...deposit }, states: 2_749 },
]

for (const { name, rules, ...expected } of cases) {
  test(`a deposit, ${name}: ${expected.states} states break no invariant`, () => {
    const { states, violations } = exploreSwap(rules)

    expect([...violations]).toEqual([])
    expect(states).toBe(expected.states)
  })

  test(`INV-8 a deposit, ${name}: every swap ends, and nothing stays at the address of its op`, () => {
    expect(exploreSwap(rules).deadEnds).toEqual([])
    expect(findEndless(rules)).toEqual([])
  })
}

test('a deposit that comes after its swap has failed goes back', () => {
  const { nodes } = exploreSwap({ ...baseRules, ...deposit })

  const late = nodes.filter(({ state }) => state.swap === 'failed' && isDeposited(state))
  expect(late.length).toBeGreaterThan(0)
  expect(late.filter(({ state }) => !isPast(state, 'opOver')).length).toBeGreaterThan(0)
})

test('only the service and strangers empty the address: without the service a deposit may stay', () => {
  const stuck = (recoversDeposits: boolean) =>
    exploreSwap({ ...baseRules, ...deposit, recoversDeposits }).nodes.filter(
      ({ state, edges }) =>
        state.deposit === 'final' &&
        isDeposited(state) &&
        state.swap === 'failed' &&
        isPast(state, 'refundOpen') &&
        edges.every(({ step }) => step.name.startsWith('stranger')),
    )

  expect(stuck(false).length).toBeGreaterThan(0)
  expect(stuck(true)).toEqual([])
})
