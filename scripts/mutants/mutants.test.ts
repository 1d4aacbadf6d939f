import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT, readSources } from '../sources.ts'
import { applyEdit, mutantsOf } from './mutate.ts'
import { createAcceptance, mutantName, readAccepted, scoreLines } from './report.ts'
import { createTestFinder } from './tests-of.ts'
import { isEndless, usedSeconds } from './used-time.ts'

const mutate = (text: string, file = 'packages/a/src/a.ts') =>
  mutantsOf(file, text).map((edit) => applyEdit(text, edit))

test.each([
  ['return a < b', ['return (a <= b)', 'return (a >= b)']],
  ['if (a >= b) c()', ['if (true) c()', 'if (false) c()', 'if ((a > b)) c()', 'if (a >= b) {}']],
  ['x = a && b', ['{}', 'x = (a)', 'x = (b)']],
  ['const x = a || b ? 1 : 2', ['const x = true ? 1 : 2', 'const x = (a) ? 1 : 2', 'const x = (b) ? 1 : 2']],
  ['const x = a ?? b', ['const x = (a && b)']],
  ['const x = !a', ['const x = (a)']],
  ['const x = a + b * 2n', ['const x = (a - (b * 2n))', 'const x = a + (b / 2n)']],
  ["const x = a + 'text'", []],
  ['const x: boolean = true', ['const x: boolean = false']],
  ['const x = a.filter(f)', ['const x = a']],
  ['const x = a.every(f)', ['const x = a.some(f)']],
  ['await f()', ['{}']],
  ["failPoint('before')", []],
  ['const x = { ...(a && { a }) }', []],
  ['type X = true extends A ? B : C', []],
])('%s has its mutants', (text, mutants) => {
  expect(mutate(text)).toEqual(mutants)
})

test.each([
  [`where a.id = $1 and not b`, [`where true and not b`, `where a.id = $1 and b`]],
  [`where a <= $1`, [`where true`, `where a < $1`]],
  [`where a is null`, [`where a is not null`]],
  [`where a in ('x', 'y')`, [`where a in ('y')`, `where a in ('x')`]],
  [`update a set b = 1 where c = $2`, [`update a set b = 1 where true`]],
  [`-- where a = 1`, []],
])('the statement %s has its mutants, in the store', (sql, mutants) => {
  const wrap = (text: string) => `const sql = \`${text}\``

  expect(mutate(wrap(sql), 'packages/a/src/store/a.ts')).toEqual(mutants.map(wrap))
  expect(mutate(wrap(sql))).toEqual([])
})

const source = (path: string, ...imports: string[]) => ({
  path: `packages/service/src/${path}`,
  text: imports.map((from) => `import '${from}'\n`).join(''),
})
const short = (paths: readonly string[]) => paths.map((path) => path.replace('packages/service/src/', ''))

test('the tests of a file are those that import it, and those of its folder that reach it', () => {
  const { tests, affected } = createTestFinder([
    source('store/a.ts'),
    source('store/b.ts', './a.ts'),
    source('store/b.test.ts', './b.ts'),
    source('flow/c.ts', '../store/a.ts'),
    source('flow/c.test.ts', './c.ts'),
    source('flow/d.test.ts', '../store/a.ts'),
    source('store/e.test.ts'),
  ])('packages/service/src/store/a.ts')

  expect(short(tests).sort()).toEqual(['flow/d.test.ts', 'store/b.test.ts'])
  expect(short(affected)).toContain('flow/c.test.ts')
  expect(short(affected)).not.toContain('store/e.test.ts')
})

test('the test of the same name runs first, and tests that need a chain last', () => {
  const { tests } = createTestFinder([
    source('flow/a.ts'),
    source('flow/b.chain.test.ts', './a.ts'),
    source('flow/c.db.test.ts', './a.ts'),
    source('flow/d.test.ts', './a.ts'),
    source('flow/a.db.test.ts', './a.ts'),
  ])('packages/service/src/flow/a.ts')

  expect(short(tests)).toEqual([
    'flow/a.db.test.ts',
    'flow/d.test.ts',
    'flow/c.db.test.ts',
    'flow/b.chain.test.ts',
  ])
})

test('a file without tests of its own has the nearest few that reach it', () => {
  const far = ['c', 'd', 'e', 'f', 'g'].map((name) => source(`flow/${name}.test.ts`, '../store/b.ts'))
  const { tests } = createTestFinder([
    source('model/a.ts'),
    source('store/b.ts', '../model/a.ts'),
    ...far,
    source('flow/near.test.ts', './near.ts'),
    source('flow/near.ts', '../store/b.ts'),
  ])('packages/service/src/model/a.ts')

  expect(short(tests)).toEqual(short(far.slice(0, 4).map(({ path }) => path)))
})

test('each accepted survivor is a mutant of its file as it is now', () => {
  const accepted = readAccepted(readFileSync(join(ROOT, 'scripts/mutants/accepted.txt'), 'utf8'))
  const now = new Set(
    readSources()
      .filter(({ path }) => accepted.some(({ file }) => file === path))
      .flatMap(({ path, text }) => mutantsOf(path, text).map((mutant) => `${path} ${mutantName(mutant)}`)),
  )

  expect(accepted.map(({ file, name }) => `${file} ${name}`).filter((each) => !now.has(each))).toEqual([])
})

test('accepted survivors do not count, and everything else does', () => {
  const page = ['### packages/a/src/a.ts', '- `a > b` → `(a >= b)`: the same for all that can be.'].join('\n')
  const mutant = {
    file: 'packages/a/src/a.ts',
    line: 1,
    start: 0,
    end: 0,
    was: 'a >  b',
    now: '(a >= b)',
  }
  const results = [
    { ...mutant, outcome: 'survived' as const },
    { ...mutant, was: 'c', outcome: 'survived' as const },
    { ...mutant, file: 'packages/b/src/a.ts', outcome: 'untested' as const },
    { ...mutant, outcome: 'killed' as const },
  ]

  expect(scoreLines(results, createAcceptance(page))).toEqual([
    'packages/a/src: 1 of 2 killed (50 %), 1 accepted',
    'packages/b/src: 0 of 1 killed (0 %), 0 accepted',
    'all: 1 of 3 killed (33.3 %), 1 accepted',
  ])
})

test('a score says how many mutants only a time-out has noticed', () => {
  const mutant = { file: 'packages/a/src/a.ts', line: 1, start: 0, end: 0, was: 'a', now: 'b' }
  const killers = ['a test: expected 1 to be 2', 'a test: Test timed out in 30000ms.', 'it does not end']
  const results = killers.map((by) => ({ ...mutant, outcome: 'killed' as const, by }))

  expect(scoreLines(results, () => false)).toEqual([
    'packages/a/src: 3 of 3 killed (100 %), 2 by a time-out, 0 accepted',
  ])
})

test('the processor time of a group is that of its processes, as Linux and macOS write it', () => {
  const table = ['  7 00:01:05', ' 70 09:00:00', '  7   0:02.50', '  7 1-01:00:00', ''].join('\n')

  expect(usedSeconds(table, 7)).toBe(65 + 2.5 + 25 * 3_600)
  expect(usedSeconds(table, 8)).toBe(0)
})

test.each<[string, number, number, boolean]>([
  ['uses the processor and says nothing', 60, 60, true],
  ['waits for the processor', 4, 599, false],
  ['waits for nothing', 0, 600, true],
])('a mutant that %s is judged by it', (_, used, silentSeconds, isGivenUp) => {
  expect(isEndless({ usedSeconds: used, silentSeconds })).toBe(isGivenUp)
})
