import { expect, test } from 'vitest'
import { exploreSwap, findEndless } from './model.ts'
import { baseRules, type Rules } from './rules.ts'
import { isDead, knownOf, type ModelState, type Step } from './state.ts'

const withFunders: Rules = { ...baseRules, hasMarkerFunders: true }

// Strangers may send lamports to every visible marker, and forks may revert that.
const cases: readonly { name: string; rules: Rules; states: number }[] = [
  { name: 'EVM to Solana', rules: { ...withFunders, destination: 'solana' }, states: 1_071 },
  { name: 'Solana to EVM', rules: { ...withFunders, origin: 'solana' }, states: 1_365 },
  {
    name: 'Solana to Solana',
    rules: { ...withFunders, origin: 'solana', destination: 'solana' },
    states: 4_074,
  },
]

function stepsUnder(rules: Rules): { from: ModelState; step: Step }[] {
  const { nodes } = exploreSwap(rules)
  return nodes.flatMap(({ state, edges }) => edges.map(({ step }) => ({ from: state, step })))
}

for (const { name, rules, ...expected } of cases) {
  test(`markers that strangers fund, ${name}: ${expected.states} states break no invariant, and all end`, () => {
    const { states, violations, deadEnds } = exploreSwap(rules)

    expect([...violations]).toEqual([])
    expect(deadEnds).toEqual([])
    expect(findEndless(rules)).toEqual([])
    expect(states).toBe(expected.states)
  })

  test(`death by height, ${name}: nothing is signed again while an earlier transaction can land`, () => {
    const signed = stepsUnder(rules).filter(({ step }) => /record (delivery|refund)$/.test(step.name))

    const attemptsOf = ({ from, step }: (typeof signed)[number]) =>
      step.event === 'deliveryRecorded' ? from.deliveries : from.refunds
    expect(signed.length).toBeGreaterThan(0)
    expect(signed.filter((each) => !knownOf(attemptsOf(each)).every(isDead))).toEqual([])
  })
}

test('a marker taken by a stranger is abandoned, and the next generation pays', () => {
  const all = cases.flatMap(({ rules }) => stepsUnder(rules)).map(({ step }) => step.to)

  const isPaid = ({ place, generation }: ModelState['lock']) => place === 'final' && generation === 1
  expect(all.some(({ deliveries }) => deliveries.some(isPaid))).toBe(true)
  expect(all.some(({ refunds }) => refunds.some(isPaid))).toBe(true)
})

test('an input in an intake vault is claimed or refunded, never both', () => {
  const { nodes } = exploreSwap({ ...baseRules, origin: 'solana' })

  const isPaidOut = ({ place }: ModelState['lock']) => place === 'included' || place === 'final'
  const outcomes = new Set(
    nodes.map(({ state }) => `${isPaidOut(state.claim)} ${state.refunds.filter(isPaidOut).length}`),
  )
  expect([...outcomes].sort()).toEqual(['false 0', 'false 1', 'true 0'])
})

test('a wallet that cannot receive its refund is waited for, and refunded once it can', () => {
  const steps = stepsUnder({ ...baseRules, origin: 'solana' })

  const moves = steps.flatMap(({ from, step }) => (step.event ? [`${from.swap}.${step.event}`] : []))
  expect(moves).toEqual(
    expect.arrayContaining([
      'refundDecided.refundRefused',
      'refunding.refundRefused',
      'refundBlocked.refundRecorded',
    ]),
  )
})
