import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { init } from './init.ts'

const root = fileURLToPath(new URL('../../../..', import.meta.url))
mkdirSync(join(root, '.geoswap'), { recursive: true })
const folder = mkdtempSync(join(root, '.geoswap', 'init-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('a new configuration names its schema by a path that is right from where it was written', async () => {
  const out = join(folder, 'geoswap.json')

  await init(['--chains', 'base', '--out', out], { out: () => {}, hint: () => {} })
  const { $schema } = JSON.parse(readFileSync(out, 'utf8'))

  expect($schema).toBe('../../docs/config.schema.json')
  expect(existsSync(resolve(dirname(out), $schema))).toBe(true)
})
