import { expect, test } from 'vitest'
import { exploreSwap, findEndless } from './model.ts'
import { baseRules, type Rules } from './rules.ts'
import {
  isDead,
  isFinal,
  isOnChain,
  isPaidOut,
  isPast,
  knownOf,
  type ModelState,
  type Step,
} from './state.ts'

const toSolana: Rules = { ...baseRules, destination: 'solana' }
const fromSolana: Rules = { ...baseRules, origin: 'solana' }

const cases: readonly { name: string; rules: Rules; states: number }[] = [
  { name: 'EVM to Solana', rules: toSolana, states: 1_101 },
  { name: 'Solana to EVM', rules: fromSolana, states: 4_019 },
  { name: 'Solana to Solana', rules: { ...toSolana, origin: 'solana' }, states: 4_021 },
]

type Taken = { from: ModelState; step: Step }

function stepsUnder(rules: Rules): Taken[] {
  const { nodes } = exploreSwap(rules)
  return nodes.flatMap(({ state, edges }) => edges.map(({ step }) => ({ from: state, step })))
}

const named = (steps: readonly Taken[], name: string) => steps.filter(({ step }) => step.name === name)

for (const { name, rules, ...expected } of cases) {
  test(`two refunds signed at once, ${name}: ${expected.states} states break no invariant, and all end`, () => {
    const twice: Rules = { ...rules, refundsAtOnce: 2 }

    const { states, violations, deadEnds } = exploreSwap(twice)

    expect([...violations]).toEqual([])
    expect(deadEnds).toEqual([])
    expect(findEndless(twice)).toEqual([])
    expect(states).toBe(expected.states)
  })

  test(`death by height, ${name}: nothing is signed again while an earlier transaction can land`, () => {
    const signed = stepsUnder(rules).filter(({ step }) => /record (delivery|refund)$/.test(step.name))

    const attemptsOf = ({ from, step }: Taken) =>
      step.event === 'deliveryRecorded' ? from.deliveries : from.refunds
    expect(signed.length).toBeGreaterThan(0)
    expect(signed.filter((each) => !knownOf(attemptsOf(each)).every(isDead))).toEqual([])
  })
}

test('an input is claimed or refunded once, by the service or a stranger', () => {
  const { nodes } = exploreSwap({ ...fromSolana, refundsAtOnce: 2 })

  const outcomes = new Set(
    nodes.map(({ state: { claim, refunds, strangerRefund } }) => {
      const byService = refunds.filter(isOnChain).length
      return `claims ${Number(isOnChain(claim))}, refunds ${byService} + ${Number(strangerRefund !== 'none')}`
    }),
  )
  expect([...outcomes].sort()).toEqual([
    'claims 0, refunds 0 + 0',
    'claims 0, refunds 0 + 1',
    'claims 0, refunds 1 + 0',
    'claims 1, refunds 0 + 0',
  ])
})

test('INV-14 an input that is paid out again takes the inputs of others', () => {
  const COVERED = 'INV-14 the escrow covers its inputs'

  const { violations } = exploreSwap({ ...fromSolana, paysOutOnce: false }, { until: COVERED })

  expect(violations.get(COVERED)?.length).toBe(21)
})

test('a refund of the service that comes after a stranger’s does nothing', () => {
  const isSecond = ({ refunds, strangerRefund }: ModelState) =>
    strangerRefund !== 'none' && refunds.some(({ place }) => place === 'flight')
  const second = stepsUnder(fromSolana).filter(({ from }) => isSecond(from))

  expect(named(second, 'chain: refund dead').length).toBeGreaterThan(0)
  expect(named(second, 'chain: refund included')).toEqual([])
})

test('after a fork undid a stranger’s refund, the refund of the service lands', () => {
  const undone = named(stepsUnder(fromSolana), 'chain: stranger’s refund undone').map(({ step }) => step.to)

  const isReady = ({ refunds, walletTakes }: ModelState) =>
    walletTakes && refunds.some(({ place }) => place === 'flight')
  const ready = new Set(undone.filter(isReady).map((state) => JSON.stringify(state)))
  const landed = named(stepsUnder(fromSolana), 'chain: refund included')
  expect(landed.some(({ from }) => ready.has(JSON.stringify(from)))).toBe(true)
})

test('a fork that undoes a refund never makes room for a claim', () => {
  const undone = named(stepsUnder(fromSolana), 'chain: refund undone')

  expect(undone.length).toBeGreaterThan(0)
  expect(undone.filter(({ step }) => step.to.attested === 'claim' || isOnChain(step.to.claim))).toEqual([])
})

test('after the refund deadline the service refunds without an attester', () => {
  const recorded = named(stepsUnder(fromSolana), 'service: record refund')

  const unattested = recorded.filter(({ from }) => from.attested === 'none')
  expect(unattested.length).toBeGreaterThan(0)
  expect(unattested.filter(({ from }) => !isPast(from, 'refundOpen'))).toEqual([])
})

test('no stranger refunds the input of a delivered swap', () => {
  const refunded = named(stepsUnder({ ...toSolana, origin: 'solana' }), 'stranger: refund')

  expect(refunded.length).toBeGreaterThan(0)
  expect(refunded.filter(({ from }) => from.deliveries.some(isOnChain))).toEqual([])
})

test('a fork can include a delivery until the final block is past its deadline', () => {
  const clocks = named(stepsUnder(toSolana), 'chain: delivery included').map(({ from }) => from.clock)

  expect(new Set(clocks)).toContain('fillPast')
  expect(clocks.filter((clock) => clock === 'fillOver' || clock === 'refundOpen')).toEqual([])
})

test('a fork can undo a delivery after its deadline, and then the input is refunded', () => {
  const isUndoneLate = ({ clock, deliveries, refunds }: ModelState) =>
    clock === 'refundOpen' && refunds.some(isFinal) && deliveries.some(({ place }) => place === 'flight')
  const undone = named(stepsUnder(toSolana), 'chain: delivery undone')

  expect(undone.some(({ from }) => from.clock === 'fillOver')).toBe(true)
  expect(stepsUnder(toSolana).some(({ from }) => isUndoneLate(from))).toBe(true)
})

test('when a marker can be swept, its delivery is claimed', () => {
  for (const rules of [toSolana, { ...toSolana, origin: 'solana' } as const]) {
    const swept = named(stepsUnder(rules), 'stranger: sweep marker')

    expect(swept.length).toBeGreaterThan(0)
    expect(swept.filter(({ from }) => !isFinal(from.claim))).toEqual([])
  }
})

test('a wallet that cannot receive its refund is waited for, and refunded once it can', () => {
  const steps = stepsUnder(fromSolana)

  const moves = steps.flatMap(({ from, step }) => (step.event ? [`${from.swap}.${step.event}`] : []))
  expect(moves).toEqual(
    expect.arrayContaining([
      'refundDecided.refundRefused',
      'refunding.refundRefused',
      'refundBlocked.refundRecorded',
    ]),
  )
})

test('a stranger can refund a wallet that closed its account, and the swap ends', () => {
  const ended = stepsUnder(fromSolana).filter(
    ({ from, step }) => from.swap === 'refundBlocked' && step.event === 'refundFinal',
  )

  expect(ended.length).toBeGreaterThan(0)
  expect(ended.every(({ from }) => isPaidOut(from) && from.strangerRefund === 'final')).toBe(true)
})
