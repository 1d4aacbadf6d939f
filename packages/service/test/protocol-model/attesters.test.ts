import { expect, test } from 'vitest'
import { attesterMachine, type SetRules } from './attesters.ts'
import { explore } from './explorer.ts'

const twoOfThree = { threshold: 2, deceived: 0 } as const
const outcomes = ['claim', 'refund'] as const

const brokenBy = (rules: SetRules) =>
  outcomes.flatMap((truth) => [...explore(attesterMachine(truth, rules)).violations.values()])

test.each<[string, SetRules]>([
  ['with three honest attesters', { ...twoOfThree, honest: 3, stolen: 0 }],
  ['with one stolen key', { ...twoOfThree, honest: 2, stolen: 1 }],
  ['with the nodes of one attester lying', { ...twoOfThree, honest: 2, deceived: 1, stolen: 0 }],
])('two of three, %s: whatever is proposed, only the true outcome is sent, and it can be', (_, rules) => {
  for (const truth of outcomes) {
    const { violations, deadEnds } = explore(attesterMachine(truth, rules))

    expect([...violations]).toEqual([])
    expect(deadEnds).toEqual([])
  }
})

test.each<[string, SetRules]>([
  ['one of three, with one stolen key', { ...twoOfThree, threshold: 1, honest: 2, stolen: 1 }],
  ['two of three, with two stolen keys', { ...twoOfThree, honest: 1, stolen: 2 }],
  [
    'two of three, with a stolen key and lying nodes of another',
    { ...twoOfThree, honest: 1, deceived: 1, stolen: 1 },
  ],
])('%s: the other outcome can be sent', (_, rules) => {
  expect(brokenBy(rules).length).toBe(2)
})
