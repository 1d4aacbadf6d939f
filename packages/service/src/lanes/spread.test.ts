import { expect, test } from 'vitest'
import { chooseLanes, createSpreading, fairShare, type SeenLane } from './spread.ts'

test('a worker that is alone takes every lane', () => {
  expect(fairShare({ lanes: 14, held: 0, holders: 0 })).toBe(14)
  expect(fairShare({ lanes: 14, held: 10, holders: 1 })).toBe(4)
})

test('a worker that joins others leaves them their part', () => {
  expect(fairShare({ lanes: 14, held: 0, holders: 1 })).toBe(7)
  expect(fairShare({ lanes: 14, held: 7, holders: 2 })).toBe(0)
  expect(fairShare({ lanes: 14, held: 0, holders: 2 })).toBe(5)
})

/** As many lanes as letters, each held by whom it says; `-` is free. */
const lanesOf = (holders: string): SeenLane[] =>
  [...holders].map((holder, index) => ({ name: `${index}`, ...(holder !== '-' && { holder }) }))

const NONE: ReadonlySet<string> = new Set()
const choose = (holders: string, { neglected = NONE, handedOver = NONE } = {}) =>
  chooseLanes({ me: 'b', lanes: lanesOf(holders), neglected, handedOver })

test('a worker asks whoever has most for a lane, until a difference of one is left', () => {
  expect(choose('aaaaaa')).toEqual({ take: [], limit: 0, ask: '0' })
  expect(choose('caaaaa')).toEqual({ take: [], limit: 0, ask: '1' })
  expect(choose('bbaaaa')).toEqual({ take: [], limit: 0, ask: '2' })
  expect(choose('bbaaa')).toEqual({ take: [], limit: 0 })
  expect(choose('bbbaaa')).toEqual({ take: [], limit: 0 })
  expect(choose('a')).toEqual({ take: [], limit: 0 })
})

test('while lanes are free nobody is asked for one', () => {
  expect(choose('aaaa--')).toEqual({ take: ['4', '5'], limit: 3 })
})

test('a lane beyond its part is taken only when nobody else does', () => {
  expect(choose('bbbbaa-')).toEqual({ take: [], limit: 0 })
  expect(choose('bbbbaa-', { neglected: new Set(['6']) })).toEqual({ take: ['6'], limit: 1 })
})

test('what was just handed over is not taken back by a worker that sees nobody else', () => {
  expect(choose('bbb-', { handedOver: new Set(['3']) })).toEqual({ take: [], limit: 0 })
  expect(choose('bbb-')).toEqual({ take: ['3'], limit: 1 })
})

/** Workers that look in turn until nobody asks, each handing over what it is asked for. */
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

test('lanes come to rest, spread evenly, after as few moves as that takes', () => {
  const counts = ({ held }: { held: string }) =>
    ['a', 'b', 'c'].map((worker) => [...held].filter((holder) => holder === worker).length).sort()
  const fromOne = balance('aaaaaaaaaaaaaa', 'abc')
  const fromTwo = balance('aaaaaaabbbbbbb', 'abc')

  expect([counts(fromOne), fromOne.moves]).toEqual([[4, 5, 5], 9])
  expect([counts(fromTwo), fromTwo.moves]).toEqual([[4, 5, 5], 4])
})

test('a worker asks once it has lived for a while, and once in a beat', () => {
  let time = 0
  const spreading = createSpreading({ me: 'b', beatMs: 100, now: () => time })
  const asksAt = (at: number) => {
    time = at
    return spreading.choose(lanesOf('aaaa')).ask !== undefined
  }

  expect([0, 799, 800, 801, 899, 900].map(asksAt)).toEqual([false, false, true, false, false, true])
})

test('a worker hands over one lane in a beat', () => {
  let time = 1_000
  const spreading = createSpreading({ me: 'a', beatMs: 100, now: () => time })
  const mayAt = (at: number) => {
    time = at
    return spreading.mayHandOver()
  }

  expect([1_000, 1_001, 1_099, 1_100].map(mayAt)).toEqual([true, false, false, true])
})

test('a lane that was handed over is taken back when nobody came for it', () => {
  let time = 0
  const spreading = createSpreading({ me: 'a', beatMs: 100, now: () => time })
  spreading.noteHandedOver('1')
  const takesAt = (at: number) => {
    time = at
    return spreading.choose(lanesOf('a-')).take
  }

  expect([100, 200, 201].map(takesAt)).toEqual([[], [], ['1']])
})
