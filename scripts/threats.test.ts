import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from './sources.ts'

const page = readFileSync(join(ROOT, 'docs/threats.md'), 'utf8')
const rows = page
  .split('\n')
  .filter((line) => /^\| (?!goes wrong)\w/.test(line))
  .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '')))

const pathsIn = (cell = ''): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path)
const isThere = (path: string): boolean =>
  existsSync(
    join(
      ROOT,
      /^(packages|deploy|scripts|test)\/|^package-lock/.test(path) ? path : `packages/service/src/${path}`,
    ),
  )

test('every threat has a defence and a test, and all of them exist', () => {
  expect(rows.length).toBeGreaterThan(100)
  for (const [threat = '', held, tested] of rows) {
    expect(pathsIn(held).length, threat).toBeGreaterThan(0)
    expect(
      pathsIn(tested).some((path) => /\.test\.ts$|^test\//.test(path)),
      threat,
    ).toBe(true)
  }
  expect(
    rows.flatMap(([, held, tested]) => pathsIn(`${held} ${tested}`)).filter((path) => !isThere(path)),
  ).toEqual([])
})
