import { expect, test } from 'vitest'
import { judgeList } from './checks.ts'

const source = { name: 'ofac', kind: 'list', file: 'sdn.xml' } as const
const HOUR = 3_600_000
const read = { version: '7', reasons: new Map([['0xa', 'listed']]), changedAt: 0 }
const warnings = (hours: number, own: { maxAgeHours?: number } = {}) =>
  judgeList({ ...source, ...own }, read, hours * HOUR).warnings

test('the doctor says how old a list is, and whether it is signed', () => {
  expect(judgeList(source, read, 3 * HOUR)).toEqual({
    problems: [],
    warnings: [],
    facts: ['ofac: 1 addresses, version 7, not signed, 3 hours old'],
  })
  expect(judgeList({ ...source, publicKey: '0'.repeat(64) }, read, 0).facts[0]).toContain(', signed,')
})

test('the doctor warns of a list that nobody has replaced for two days, or as configured', () => {
  expect([warnings(47), warnings(48)]).toEqual([[], ['ofac: its list is 48 hours old']])
  expect([warnings(47, { maxAgeHours: 24 }), warnings(47, { maxAgeHours: 48 })]).toEqual([
    ['ofac: its list is 47 hours old'],
    [],
  ])
})
