import { expect, test } from 'vitest'
import type { RuleName } from './invariants.ts'
import { exploreSwap } from './model.ts'
import { designMutants, furtherMutants, type Mutant } from './mutants.ts'

const mutants = [...designMutants, ...furtherMutants]

// Violations before money moves. Ignored here to show that money is lost as well.
const beforeMoney: readonly RuleName[] = [
  'INV-9 written ahead',
  'INV-22 no money decision without a proof',
  'INV-2 no delivery is signed after a refund decision',
]

const exploreMutant = ({ on, off, first }: Mutant) =>
  exploreSwap({ ...on, ...off }, { ignored: first ? [...new Set([...beforeMoney, first])] : beforeMoney })

for (const mutant of mutants) {
  const { id, what, on, breaks, states, steps, first } = mutant

  test(`${id} is caught by ${breaks} in ${steps} steps among ${states} states: ${what}`, () => {
    const found = exploreMutant(mutant)

    const trace = found.violations.get(breaks) ?? []
    expect({ states: found.states, steps: trace.length }, trace.join('\n')).toEqual({ states, steps })
  })

  test(`${id} breaks nothing with its rule on`, () => {
    expect([...exploreSwap(on).violations]).toEqual([])
  })

  if (!first) continue
  test(`${id} breaks ${first} before money is lost`, () => {
    const { violations } = exploreSwap({ ...on, ...mutant.off })

    expect(violations.get(first)?.length).toBeLessThan(steps)
  })
}

test('the shortest trace to a loss of each mutant is recorded', async () => {
  const pages = mutants.map((mutant) => {
    const trace = exploreMutant(mutant).violations.get(mutant.breaks) ?? []
    const steps = trace.map((step, index) => `${index + 1}. ${step}`)
    return [`## ${mutant.id}: ${mutant.what}`, '', `Breaks ${mutant.breaks}.`, '', ...steps, ''].join('\n')
  })

  await expect(['# Shortest traces to a loss', '', ...pages].join('\n')).toMatchFileSnapshot('traces.md')
})
