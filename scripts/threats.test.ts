import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from './sources.ts'

const page = readFileSync(join(ROOT, 'docs/threats.md'), 'utf8')
const rows = page
  .split('\n')
  .filter((line) => /^\| (?!goes wrong)\w/.test(line))
  .map((line) => {
    const [threat = '', is = '', by = '', tested = ''] = line.replace(/^\| | \|$/g, '').split(' | ')
    return { threat, is, by, tested }
  })

// A name without a dot or slash is a setting.
const PATH = /`([^`]*[./][^`]*)`/g
const pathsIn = (cell: string): string[] => [...cell.matchAll(PATH)].map(([, path = '']) => path)
const isThere = (path: string): boolean =>
  existsSync(
    join(
      ROOT,
      /^(packages|deploy|scripts|test)\/|^package-lock/.test(path) ? path : `packages/service/src/${path}`,
    ),
  )
const hasBound = ({ by }: { by: string }): boolean => /\w/.test(by.replace(PATH, ''))

test('every threat is listed once, with code against it and a test, and all of them exist', () => {
  const threats = rows.map(({ threat }) => threat)
  expect(threats.length).toBeGreaterThan(100)
  expect(threats).toEqual([...new Set(threats)])
  expect(rows.filter(({ by }) => pathsIn(by).length === 0)).toEqual([])
  expect(rows.filter(({ tested }) => !pathsIn(tested).some((path) => path.endsWith('.test.ts')))).toEqual([])
  const paths = rows.flatMap(({ by, tested }) => pathsIn(`${by} ${tested}`))
  expect(paths.filter((path) => !isThere(path))).toEqual([])
})

test('every threat is prevented without a condition, or bounded by what the page says', () => {
  expect(rows.filter((row) => !(row.is === (hasBound(row) ? 'bounded' : 'prevented')))).toEqual([])
})
