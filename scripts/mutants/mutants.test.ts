import { expect, test } from 'vitest'
import { applyEdit, mutantsOf } from './mutate.ts'
import { createAcceptance, scoreLines } from './report.ts'
import { createTestFinder } from './tests-of.ts'

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

test('the tests of a file are those that import it, and those of its folder that reach it', () => {
  const source = (path: string, ...imports: string[]) => ({
    path: `packages/service/src/${path}`,
    text: imports.map((from) => `import '${from}'\n`).join(''),
  })
  const { tests, affected } = createTestFinder([
    source('store/a.ts'),
    source('store/b.ts', './a.ts'),
    source('store/b.test.ts', './b.ts'),
    source('flow/c.ts', '../store/a.ts'),
    source('flow/c.test.ts', './c.ts'),
    source('flow/d.test.ts', '../store/a.ts'),
    source('store/e.test.ts'),
  ])('packages/service/src/store/a.ts')
  const short = (paths: readonly string[]) => paths.map((path) => path.replace('packages/service/src/', ''))

  expect(short(tests).sort()).toEqual(['flow/d.test.ts', 'store/b.test.ts'])
  expect(short(affected)).toContain('flow/c.test.ts')
  expect(short(affected)).not.toContain('store/e.test.ts')
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
