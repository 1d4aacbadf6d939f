import { expect, test } from 'vitest'
import { type SwapEvent, type SwapState, transitions } from '../../src/swap/lifecycle.ts'
import { exploreSwap } from './model.ts'
import { baseRules, type Rules, softRules } from './rules.ts'

const families = ['evm', 'solana'] as const
const routes = families.flatMap((origin) => families.map((destination) => ({ origin, destination })))
const explored: readonly Rules[] = [
  ...routes.flatMap((route) => [
    { ...baseRules, ...route },
    { ...softRules, ...route },
  ]),
  { ...softRules, input: 'deposit' },
]

const nameOf = (state: SwapState, event: SwapEvent) => `${state}.${event}`

function takenUnder(rules: Rules): { name: string; to: SwapState }[] {
  const { nodes } = exploreSwap(rules)
  return nodes.flatMap(({ state, edges }) =>
    edges.flatMap(({ step }) =>
      step.event ? [{ name: nameOf(state.swap, step.event), to: step.to.swap }] : [],
    ),
  )
}

const table = new Map(
  (Object.keys(transitions) as SwapState[]).flatMap((state) =>
    (Object.entries(transitions[state]) as [SwapEvent, SwapState][]).map(
      ([event, to]) => [nameOf(state, event), to] as const,
    ),
  ),
)

/** Transitions that require an event outside the model. */
const untaken: Record<string, string> = {
  'settled.claimFinal': 'a claim is recorded before it is sent; only a restored database lacks that record',
  'claiming.inputLost': 'a claim is in time unless no attester signs before the refund deadline',
}

test('the model takes no transition that the table lacks', () => {
  const wrong = explored.flatMap(takenUnder).filter(({ name, to }) => table.get(name) !== to)

  expect(wrong).toEqual([])
})

test('the model takes every transition of the table, except the named ones', () => {
  const taken = new Set(explored.flatMap(takenUnder).map(({ name }) => name))

  expect([...table.keys()].filter((name) => !taken.has(name))).toEqual(Object.keys(untaken))
})

test('without soft finality, no lock is ever lost', () => {
  const hard = new Set(
    routes.flatMap((route) => takenUnder({ ...baseRules, ...route })).map(({ name }) => name),
  )

  expect(
    ['locked.lockLost', 'delivering.lockDead', 'settled.deliveryRecorded'].filter((name) => hard.has(name)),
  ).toEqual([])
})
