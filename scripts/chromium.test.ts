import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { findChromium } from './chromium.ts'

const folder = mkdtempSync(join(tmpdir(), 'geoswap-chromium-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('the named browser is used, else one that can be run', () => {
  const path = join(folder, 'google-chrome')
  writeFileSync(path, '')

  expect(findChromium({ PATH: folder })).toBeUndefined()
  chmodSync(path, 0o755)
  expect(findChromium({ PATH: `/nowhere:${folder}` })).toBe(path)
  expect(findChromium({ PATH: folder, CHROMIUM: '/opt/mine' })).toBe('/opt/mine')
  expect(findChromium({})).toBeUndefined()
})
