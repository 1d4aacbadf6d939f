import { expect, test } from 'vitest'
import { publicStatus } from '../../src/swap/lifecycle.ts'
import { explore } from './explorer.ts'
import { exploreSwap, findEndless } from './model.ts'
import { pairOf } from './pair.ts'
import { type Rules, softRules } from './rules.ts'

const cases: readonly { name: string; rules: Rules; states: number }[] = [
  { name: 'EVM to EVM', rules: softRules, states: 1_322 },
  { name: 'EVM to EVM with a cap of 0', rules: { ...softRules, exposureCap: 0 }, states: 733 },
  { name: 'EVM to Solana', rules: { ...softRules, destination: 'solana' }, states: 1_344 },
  { name: 'Solana to EVM', rules: { ...softRules, origin: 'solana' }, states: 1_739 },
  {
    ...{ name: 'Solana to Solana', states: 1_757 },
    rules: { ...softRules, origin: 'solana', destination: 'solana' },
  },
]

for (const { name, rules, ...expected } of cases) {
  test(`soft finality, ${name}: ${expected.states} states break no invariant`, () => {
    const { states, violations } = exploreSwap(rules)

    expect([...violations]).toEqual([])
    expect(states).toBe(expected.states)
  })

  test(`INV-8 soft finality, ${name}: every row can end, and does`, () => {
    expect(exploreSwap(rules).deadEnds).toEqual([])
    expect(findEndless(rules)).toEqual([])
  })
}

for (const { name, rules } of cases) {
  test(`INV-8 soft finality, ${name}: every state reaches a lasting status`, () => {
    expect(exploreSwap(rules, { endsAt: 'status' }).deadEnds).toEqual([])
    expect(findEndless(rules, { endsAt: 'status' })).toEqual([])
  })
}

test('INV-13 every swap that ends without a final lock frees its exposure', () => {
  for (const { rules } of cases) {
    const ended = exploreSwap(rules).nodes.filter(
      ({ state: { swap } }) => swap === 'failed' || swap === 'refunded',
    )

    expect(ended.length).toBeGreaterThan(0)
    expect(ended.filter(({ state }) => state.exposed)).toEqual([])
  }
})

test('INV-4 a delivery that a reorg undid after settled is repeated, with the same bytes or others', () => {
  const { nodes } = exploreSwap(softRules)

  const steps = nodes.flatMap(({ state, edges }) => edges.map(({ step }) => ({ state, step })))
  const settled = steps.filter(({ state }) => publicStatus(state.swap) === 'settled')
  const names = new Set(settled.map(({ step }) => step.name))
  expect([...names]).toEqual(
    expect.arrayContaining([
      'chain: delivery undone',
      'chain: delivery included',
      'service: record delivery',
    ]),
  )
})

test('INV-13 two swaps share one cap: 3780 states, and early deliveries never exceed it', () => {
  const { states, violations } = explore(pairOf({ ...softRules, exposureCap: 1 }))

  expect([...violations]).toEqual([])
  expect(states).toBe(3_780)
})

test('INV-13 two swaps with room for both are both delivered early', () => {
  const { violations } = explore(pairOf({ ...softRules, exposureCap: 2 }, { promisedCap: 1 }))

  expect([...violations.keys()]).toEqual(['INV-13 exposure within its cap'])
})

test('INV-13 two swaps that are not booked exceed the cap', () => {
  const { violations } = explore(pairOf({ ...softRules, exposureCap: 1, booksExposure: false }))

  expect(violations.get('INV-13 exposure within its cap')?.at(-1)).toMatch(/record delivery/)
})
