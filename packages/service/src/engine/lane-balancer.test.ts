import { expect, test } from 'vitest'
import { chooseLanes, createLaneBalancer, fairShare, type SeenLane } from './lane-balancer.ts'

test('a lone worker takes every lane', () => {
  expect(fairShare({ lanes: 14, held: 0, holders: 0 })).toBe(14)
  expect(fairShare({ lanes: 14, held: 10, holders: 1 })).toBe(4)
})

test('a worker that joins others leaves them their share', () => {
  expect(fairShare({ lanes: 14, held: 0, holders: 1 })).toBe(7)
  expect(fairShare({ lanes: 14, held: 7, holders: 2 })).toBe(0)
  expect(fairShare({ lanes: 14, held: 0, holders: 2 })).toBe(5)
})

/** One lane per letter, which names its holder; `-` is free. */
const lanesOf = (holders: string): SeenLane[] =>
  [...holders].map((holder, index) => ({ name: `${index}`, ...(holder !== '-' && { holder }) }))

const NONE: ReadonlySet<string> = new Set()
const choose = (holders: string, { neglected = NONE, handedOver = NONE } = {}) =>
  chooseLanes({ me: 'b', lanes: lanesOf(holders), neglected, handedOver })

test('a worker asks the busiest worker for a lane until they differ by one', () => {
  expect(choose('aaaaaa')).toEqual({ take: [], limit: 0, ask: '0' })
  expect(choose('caaaaa')).toEqual({ take: [], limit: 0, ask: '1' })
  expect(choose('bbaaaa')).toEqual({ take: [], limit: 0, ask: '2' })
  expect(choose('bbaaa')).toEqual({ take: [], limit: 0 })
  expect(choose('bbbaaa')).toEqual({ take: [], limit: 0 })
  expect(choose('a')).toEqual({ take: [], limit: 0 })
})

test('of workers with as many lanes the first is asked', () => {
  expect(choose('aaaccc')).toEqual({ take: [], limit: 0, ask: '0' })
})

test('a worker that has its share asks for none, also if another has more', () => {
  expect(choose('aaaabbcde')).toEqual({ take: [], limit: 0 })
})

test('no worker is asked for a lane while others are free', () => {
  expect(choose('aaaa--')).toEqual({ take: ['4', '5'], limit: 3 })
})

test('a worker takes a lane beyond its share only when no other worker does', () => {
  expect(choose('bbbbaa-')).toEqual({ take: [], limit: 0 })
  expect(choose('bbbbaa-', { neglected: new Set(['6']) })).toEqual({ take: ['6'], limit: 1 })
})

test('a lane just handed over is not taken back by a worker that sees no other', () => {
  expect(choose('bbb-', { handedOver: new Set(['3']) })).toEqual({ take: [], limit: 0 })
  expect(choose('bbb-')).toEqual({ take: ['3'], limit: 1 })
})

/** Runs the workers in turn until none asks, each handing over the lane that it is asked for. */
function balance(holders: string, workers: string): { held: string; moves: number } {
  let [held, moves] = [holders, 0]
  for (let isMoving = true; isMoving; ) {
    isMoving = false
    for (const me of workers) {
      const { ask } = chooseLanes({ me, lanes: lanesOf(held), neglected: NONE, handedOver: NONE })
      if (ask === undefined) continue
      held = [...held].map((holder, index) => (`${index}` === ask ? me : holder)).join('')
      moves += 1
      isMoving = true
    }
  }
  return { held, moves }
}

test('lanes end up evenly spread, with as few moves as possible', () => {
  const counts = ({ held }: { held: string }) =>
    ['a', 'b', 'c'].map((worker) => [...held].filter((holder) => holder === worker).length).sort()
  const fromOne = balance('aaaaaaaaaaaaaa', 'abc')
  const fromTwo = balance('aaaaaaabbbbbbb', 'abc')

  expect([counts(fromOne), fromOne.moves]).toEqual([[4, 5, 5], 9])
  expect([counts(fromTwo), fromTwo.moves]).toEqual([[4, 5, 5], 4])
})

test('a worker asks only after it has run for a while, and once per renewal', () => {
  let time = 0
  const balancer = createLaneBalancer({ me: 'b', renewMs: 100, now: () => time })
  const asksAt = (at: number) => {
    time = at
    return balancer.choose(lanesOf('aaaa')).ask !== undefined
  }

  expect([0, 799, 800, 801, 899, 900].map(asksAt)).toEqual([false, false, true, false, false, true])
})

test('a worker that wanted no lane asks as soon as it wants one', () => {
  let time = 0
  const balancer = createLaneBalancer({ me: 'b', renewMs: 100, now: () => time })
  time = 800

  expect(balancer.choose(lanesOf('ab')).ask).toBeUndefined()
  expect(balancer.choose(lanesOf('aaaa')).ask).toBe('0')
})

test('a lane beyond the share is taken once it was free for two renewals on end', () => {
  let time = 0
  const balancer = createLaneBalancer({ me: 'b', renewMs: 100, now: () => time })
  const takesAt = (at: number, holders = 'bbbbaa-') => {
    time = at
    return balancer.choose(lanesOf(holders)).take
  }

  expect([0, 200, 201].map((at) => takesAt(at))).toEqual([[], [], ['6']])
  takesAt(202, 'bbbbaaa')
  expect([203, 403, 404].map((at) => takesAt(at))).toEqual([[], [], ['6']])
})

test('a worker hands over one lane per renewal', () => {
  let time = 1_000
  const balancer = createLaneBalancer({ me: 'a', renewMs: 100, now: () => time })
  const mayAt = (at: number) => {
    time = at
    return balancer.mayHandOver()
  }

  expect([1_000, 1_001, 1_099, 1_100].map(mayAt)).toEqual([true, false, false, true])
})

test('a lane that was handed over is taken back if no worker took it', () => {
  let time = 0
  const balancer = createLaneBalancer({ me: 'a', renewMs: 100, now: () => time })
  balancer.noteHandedOver('1')
  const takesAt = (at: number) => {
    time = at
    return balancer.choose(lanesOf('a-')).take
  }

  expect([100, 200, 201].map(takesAt)).toEqual([[], [], ['1']])
})
