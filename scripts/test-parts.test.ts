import { execFileSync } from 'node:child_process'
import { relative } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from './sources.ts'
import { startable, type TestPart, testParts } from './test-parts.ts'

const run = (file: string, ...args: string[]) => execFileSync(file, args, { cwd: ROOT, encoding: 'utf8' })

test('every test file belongs to exactly one part, and every part to one command', () => {
  const files = run(
    'git',
    'ls-files',
    '--cached',
    '--others',
    '--exclude-standard',
    '--',
    '*.test.ts',
    '*.test.tsx',
  )
  const vitest = ['node_modules/vitest/vitest.mjs', 'list', '--filesOnly', '--json']
  const selected: { file: string; projectName: string }[] = JSON.parse(run(process.execPath, ...vitest))

  expect(selected.map(({ file }) => relative(ROOT, file)).sort()).toEqual(files.trim().split('\n').sort())
  expect([...new Set(selected.map(({ projectName }) => projectName)), 'check'].sort()).toEqual(
    testParts.map(({ name }) => name).sort(),
  )
})

test('npm test and npm run test:rest run all parts but the proof and the frameworks of agents', () => {
  const neither = testParts.filter(({ command }) => command !== 'test' && command !== 'test:rest')

  expect(neither.map(({ name }) => name)).toEqual(['proof', 'agents', 'agentkit'])
})

test('a part starts beside those that allow it, in the order of the table', () => {
  const part = (name: string, ...beside: string[]): TestPart => ({ name, command: 'test', files: [], beside })
  const [long, first, second, third] = [
    part('long', 'first', 'second'),
    part('first'),
    part('second'),
    part('third'),
  ]

  expect(startable([long, first, second, third], [])).toEqual([long, first])
  expect(startable([second, third], [long])).toEqual([second])
  expect(startable([third], [second])).toEqual([])
  expect(startable([third], [])).toEqual([third])
})
