import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { refusalOf } from './require-node.mjs'
import { ROOT } from './sources.ts'

test.each(['v18.20.8', 'v20.18.3', 'v19.99.0'])('Node %s is refused in one sentence', (version) => {
  expect(refusalOf(version, '>=20.19')).toBe(`geoswap needs Node 20.19 or newer, and this is ${version}.`)
})

test.each(['v20.19.0', 'v20.20.2', 'v22.0.0', 'v24.9.0'])('Node %s is accepted', (version) => {
  expect(refusalOf(version, '>=20.19')).toBeUndefined()
})

test('this Node is asked first by npm start and both test commands', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const asked = 'node scripts/require-node.mjs && '

  expect(execFileSync(process.execPath, ['scripts/require-node.mjs'], { cwd: ROOT, encoding: 'utf8' })).toBe(
    '',
  )
  for (const name of ['start', 'test', 'test:rest']) expect(scripts[name].startsWith(asked), name).toBe(true)
})
