import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isTest, ROOT, readSources } from './sources.ts'

const page = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8')

test('ARCHITECTURE.md lists every proof of the code, and no other', () => {
  const sources = readSources().filter(
    ({ path }) => /^packages\/service\/src\/(flow|rebuild|attester)\//.test(path) && !isTest(path),
  )
  const kinds = sources.flatMap(({ text }) =>
    [...text.matchAll(/kind: '(neverSigned|\w+(?:Unlocked|Undelivered|PastDeadline|AfterDelivery))'/g)].map(
      ([, kind = '']) => kind,
    ),
  )
  const [, table = ''] = /^## Proofs$(.*?)^## /ms.exec(page) ?? []
  const listed = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, kind = '']) => kind)

  expect(listed.sort()).toEqual([...new Set(kinds)].sort())
})

test('ARCHITECTURE.md has fewer than 2,000 words', () => {
  expect(page.split(/\s+/).length).toBeLessThan(2_000)
})
