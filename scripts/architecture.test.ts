import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { proofKinds } from '../packages/service/src/swap/lifecycle.ts'
import { ROOT } from './sources.ts'

const page = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8')

test('ARCHITECTURE.md lists every proof of the code, and no other', () => {
  const [, table = ''] = /^## Proofs$(.*?)^## /ms.exec(page) ?? []
  const listed = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, kind = '']) => kind)

  expect(listed.sort()).toEqual([...new Set(Object.values(proofKinds).flat())].sort())
})

test('ARCHITECTURE.md has fewer than 2,000 words', () => {
  expect(page.split(/\s+/).length).toBeLessThan(2_000)
})
