import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { measureRows } from '../scripts/gas-rows.ts'

const snapshot: Record<string, number> = JSON.parse(
  readFileSync(new URL('../gas.snapshot.json', import.meta.url), 'utf8'),
)
const rows = await measureRows()

test('every kind of transaction costs exactly the gas of the snapshot', () => {
  expect(Object.fromEntries(rows.map(({ name, gas }) => [name, gas]))).toEqual(snapshot)
})

test.each(rows)('$name: at most $goal gas', ({ gas, goal }) => {
  expect(gas).toBeLessThanOrEqual(goal)
})
