import { expect, test } from 'vitest'
import { explore, findFairCycle, type Machine } from './explorer.ts'

type Graph = Record<string, readonly [name: string, to: string][]>

function machineOf(
  graph: Graph,
  broken: readonly string[] = [],
): Machine<string, { name: string; to: string }> {
  return {
    start: 'a',
    stepsOf: (state) => (graph[state] ?? []).map(([name, to]) => ({ name, to })),
    encode: (state) => state,
    judgeState: (state) => (broken.includes(state) ? [`${state} is broken`] : []),
    judgeStep: () => [],
    isDone: (state) => state === 'end',
  }
}

const fairness = { isDone: (state: string) => state === 'end', isFair: () => true, isRare: () => false }

test('a violation is reached by the shortest trace, and nothing beyond it is visited', () => {
  const graph: Graph = {
    a: [
      ['long', 'b'],
      ['short', 'c'],
    ],
    b: [['on', 'c']],
    c: [['on', 'beyond']],
  }

  const { states, violations } = explore(machineOf(graph, ['c']))

  expect([...violations]).toEqual([['c is broken', ['short']]])
  expect(states).toBe(3)
})

test('a state that cannot reach an end is a dead end', () => {
  const graph: Graph = {
    a: [
      ['well', 'end'],
      ['badly', 'b'],
    ],
    b: [['round', 'b']],
  }

  const { deadEnds } = explore(machineOf(graph))

  expect(deadEnds).toEqual([{ state: 'b', trace: ['badly'] }])
})

test('a cycle with a fair exit is left', () => {
  const graph: Graph = {
    a: [['on', 'b']],
    b: [
      ['back', 'a'],
      ['out', 'end'],
    ],
  }

  expect(findFairCycle(explore(machineOf(graph)), fairness)).toEqual([])
})

test('a cycle whose exit is not fair is endless', () => {
  const graph: Graph = {
    a: [['on', 'b']],
    b: [
      ['back', 'a'],
      ['out', 'end'],
    ],
  }

  const endless = findFairCycle(explore(machineOf(graph)), { ...fairness, isFair: (name) => name !== 'out' })

  expect(endless.sort()).toEqual(['a', 'b'])
})

test('a cycle that needs a rare step ends', () => {
  const graph: Graph = {
    a: [['on', 'b']],
    b: [
      ['back', 'a'],
      ['out', 'end'],
    ],
  }
  const isFair = (name: string) => name === 'on'

  expect(
    findFairCycle(explore(machineOf(graph)), { ...fairness, isFair, isRare: (name) => name === 'back' }),
  ).toEqual([])
})

test('of two cycles, the fair one is found', () => {
  const graph: Graph = {
    a: [
      ['on', 'b'],
      ['out', 'end'],
    ],
    b: [
      ['back', 'a'],
      ['down', 'c'],
    ],
    c: [['round', 'c']],
  }

  expect(findFairCycle(explore(machineOf(graph)), fairness)).toEqual(['c'])
})
