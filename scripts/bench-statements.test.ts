import { expect, test } from 'vitest'
import { countIn } from '../test/bench/statements.ts'

test('statements of a transaction count together, also between those of another process', () => {
  const log = [
    'api 1 LOG:  statement: begin',
    'worker 2 LOG:  execute 3f: select 1',
    '\t  from swaps',
    'api 1 LOG:  execute 4a: insert into ops',
    'api 1 DETAIL:  Parameters: $1 = ?',
    'worker 2 LOG:  statement: select 1 from swaps',
    'api 1 LOG:  statement: update ops',
    'api 1 LOG:  statement: commit',
  ]

  const { statements, roles, kinds } = countIn(`${log.join('\n')}\n`)

  expect(statements).toBe(6)
  expect([...roles]).toEqual([
    ['worker', 2],
    ['api', 1],
  ])
  expect([...kinds]).toEqual([
    ['worker: select 1 from swaps', 2],
    ['api: begin; insert into ops', 1],
  ])
})
