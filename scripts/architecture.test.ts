import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { proofKinds } from '../packages/service/src/swap/lifecycle.ts'
import { isTest, ROOT, readSources } from './sources.ts'

const page = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8')

test('ARCHITECTURE.md lists every proof of the code, and no other', () => {
  const [, table = ''] = /^## Proofs$(.*?)^## /ms.exec(page) ?? []
  const listed = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, kind = '']) => kind)

  expect(listed.sort()).toEqual([...new Set(Object.values(proofKinds).flat())].sort())
})

test('ARCHITECTURE.md has fewer than 2,000 words', () => {
  expect(page.split(/\s+/).length).toBeLessThan(2_000)
})

// Commands act on the contracts of one family.
const OWN = /^(chains\/(evm|solana)\/|chains\/families\.ts$|operate\/)/

test('outside its folder and the registry, the service does not name a family', () => {
  const named = readSources().flatMap(({ path, text }) => {
    const file = /^packages\/service\/src\/(.*)/.exec(path)?.[1]
    const isOther = file !== undefined && !isTest(path) && !OWN.test(file)
    return isOther && /'(evm|solana)'|\.(evm|solana)\b/.test(text) ? [file] : []
  })

  expect(named).toEqual([])
})
