import { expect, test } from 'vitest'
import { byAddress, findAttesterChange, keyOfSet } from './attester-set.ts'

const DAY = 24 * 3_600
const setOf = (member: string, since = 0) => ({ members: [member], threshold: 1, since })
const [old, next, other] = [setOf('0x1'), setOf('0x2', 100), setOf('0x3', 200)]
const escrow = { sets: [old], proposed: undefined, configured: [setOf('0x1'), setOf('0x2')], seconds: 50 }

test('without another set there is no change', () => {
  expect(findAttesterChange(escrow)).toBeUndefined()
  expect(findAttesterChange({ ...escrow, sets: [next], seconds: 100 })).toBeUndefined()
})

test('a proposed set counts at the earliest 7 days after its acceptance', () => {
  const proposed = { members: ['0x2'], threshold: 1, readyAt: 60 }
  const change = { members: ['0x2'], threshold: 1, kind: 'proposed' }

  expect(findAttesterChange({ ...escrow, proposed })).toEqual({ ...change, since: 60 + 7 * DAY + 1 })
  expect(findAttesterChange({ ...escrow, proposed, seconds: 70 })).toEqual({
    ...change,
    since: 70 + 7 * DAY + 1,
  })
})

test('an accepted set is a change until it counts', () => {
  const sets = [old, next]

  expect(findAttesterChange({ ...escrow, sets, seconds: 99 })).toEqual({ ...next, kind: 'accepted' })
  expect(findAttesterChange({ ...escrow, sets, seconds: 100 })).toBeUndefined()
})

test('a set that the configuration does not have is foreign, before and while it counts', () => {
  const foreign = { ...other, kind: 'foreign' }

  expect(findAttesterChange({ ...escrow, sets: [old, next, other] })).toEqual(foreign)
  expect(findAttesterChange({ ...escrow, sets: [other], seconds: 300 })).toEqual(foreign)
})

test('sets are equal whatever the order of their members, and differ by threshold', () => {
  const keyOf = (threshold: number, ...members: string[]) => keyOfSet({ members, threshold })

  expect(keyOf(2, '0x2', '0x1')).toBe(keyOf(2, '0x1', '0x2'))
  expect(keyOf(1, '0x1', '0x2')).not.toBe(keyOf(2, '0x1', '0x2'))
})

test.each([
  ['0x0a', '0x0B', -1],
  ['0x0B', '0x0a', 1],
  ['0x0a', '0x0A', 0],
])('signers are ordered by number, not by letter case: %s and %s', (a, b, order) => {
  expect(byAddress(a, b)).toBe(order)
})
