import { describe, expect, test } from 'vitest'
import { checkColumns } from './check-columns.ts'
import { checkImports } from './check-imports.ts'
import { checkProse } from './check-prose.ts'

const source = (path: string, ...lines: string[]) => ({
  path: `packages/${path}`,
  text: `${lines.join('\n')}\n`,
})

describe('the architecture', () => {
  test.each([
    ['service/src/swap/a.ts', "import { x } from '../store/b.ts'", 'the rules of a swap are pure'],
    ['service/src/swap/a.ts', "import { x } from 'node:crypto'", 'the rules of a swap are pure'],
    ['service/src/swap/a.ts', 'const now = Date.now()', 'the rules of a swap are pure'],
    ['service/src/stages/quote/a.ts', "import { x } from '../build/b.ts'", 'a stage knows no other stage'],
    ['service/src/stages/settle/a.ts', 'await Promise.all(swaps.map(send))', 'use mapIsolated'],
    ['service/src/stages/status/a.ts', 'await Promise.all(waiters.map(answer))', 'use mapIsolated'],
    ['service/src/stages/attest/a.ts', 'await Promise.all([one(), ...swaps.map(send)])', 'use mapIsolated'],
    ['service/src/engine/a.ts', 'await Promise.all([...swaps].map(send))', 'use mapIsolated'],
    ['service/src/stages/quote/a.ts', "import { x } from 'viem'", 'a stage knows no other stage'],
    [
      'service/src/stages/quote/a.ts',
      "import { c } from '../../chains/chain.ts'",
      'a stage knows no other stage',
    ],
    ['service/src/stages/quote/route.ts', "import { f } from 'fastify'", 'the types of Fastify'],
    ['service/src/chains/evm/a.ts', "import { x } from '@solana/kit'", 'no Solana'],
    ['service/src/chains/evm/a.ts', "export * from '../solana/b.ts'", 'no Solana'],
    ['service/src/http/a.ts', "const m = await import('../compose.ts')", 'HTTP knows routes'],
    ['wire/src/a.ts', "import 'viem'", 'wire knows only'],
    ['sdk/src/a.ts', "import { x } from '@geoswap/service'", 'the SDK does not know'],
    ['sdk/src/a.ts', "import { x } from '../../service/src/b.ts'", 'reaches out of its package'],
    ['service/src/main.ts', "import { x } from '../test/support/b.ts'", 'code of tests'],
    ['service/src/store/utils.ts', '', 'not a descriptive name'],
    ['service/src/store/index.ts', '', 'index.ts belongs'],
    ['service/src/http/a.ts', 'const x = process.env.X', 'only entry points'],
    ['service/src/http/a.ts', 'export default 1', 'export default'],
    ['service/src/store/a.ts', "db.query('select * from swaps')", 'names its columns'],
    ['service/src/store/a.ts', "db.query('update swaps set a = 1 returning s.*')", 'names its columns'],
    ['unknown/src/a.ts', "import 'x'", 'no rule covers it'],
  ])('%s is refused: %s', (path, line, reason) => {
    expect(checkImports([source(path, line)]).join()).toContain(reason)
  })

  test.each([
    ['service/src/stages/quote/a.ts', "import type { Chain } from '../../chains/chain.ts'"],
    ['service/src/stages/quote/a.ts', "import { type Chain, type Other } from '../../chains/chain.ts'"],
    ['service/src/stages/quote/a.ts', "import { b } from './b.ts'"],
    ['service/src/stages/quote/a.test.ts', "import { x } from 'viem'"],
    ['service/src/main.ts', 'const x = process.env.X'],
    ['service/src/stages/settle/a.ts', 'await Promise.all([readHeads(), readLocks()])'],
    ['service/src/chains/evm/a.ts', 'await Promise.all(nodes.map(ask))'],
    ['service/src/http/a.ts', '// process.env is read elsewhere'],
    ['service/src/store/a.ts', "db.query('select count(*) from swaps')"],
    ['contracts/test/a.ts', "import { abi } from '../../protocol/src/abi/x.gen.ts'"],
  ])('%s may say: %s', (path, line) => {
    expect(checkImports([source(path, line)])).toEqual([])
  })

  test('the shortest cycle is printed', () => {
    const cycle = [
      source('wire/src/a.ts', "import { b } from './b.ts'"),
      source('wire/src/b.ts', "import { c } from './c.ts'"),
      source('wire/src/c.ts', "import { a } from './a.ts'"),
    ]

    expect(checkImports(cycle)).toEqual(['cycle: wire/a.ts -> wire/b.ts -> wire/c.ts -> wire/a.ts'])
  })

  test('types make a cycle too, unless it is listed', () => {
    const cycleOf = (folder: string, a: string, b: string) => [
      source(`${folder}/${a}.ts`, `import type { B } from './${b}.ts'`),
      source(`${folder}/${b}.ts`, `import { a } from './${a}.ts'`),
    ]

    expect(checkImports(cycleOf('sdk/src', 'errors', 'retry'))).toEqual([
      'cycle: sdk/errors.ts -> sdk/retry.ts -> sdk/errors.ts',
    ])
    expect(checkImports(cycleOf('test/lies', 'offers', 'liar'))).toEqual([])
  })
})

test('a line of 121 columns is refused', () => {
  expect(checkColumns([source('a.ts', 'x'.repeat(121))])).toEqual([expect.stringContaining('121 columns')])
  expect(checkColumns([source('a.ts', 'x'.repeat(120))])).toEqual([])
})

describe('prose', () => {
  test.each([
    ['// What is sent waits.', 'opens with "What"'],
    ['/** Whoever asks waits. */', 'opens with "Whoever"'],
    [`// ${'word '.repeat(31)}`, '31 words, at most 30'],
    ['// The mouth sends it.', '"mouth" is "broadcaster"'],
  ])('%s is refused', (line, reason) => {
    expect(checkProse([source('service/src/a.ts', line)]).join()).toContain(reason)
  })

  test.each(['// Sends what was recorded.', '// What next?', "const text = 'What is sent waits.'"])(
    '%s is accepted',
    (line) => {
      expect(checkProse([source('service/src/a.ts', line)])).toEqual([])
    },
  )

  test('sentences are found over the lines of a comment, in titles and in documents', () => {
    const comment = source('service/src/a.ts', '// It waits. What', '// is sent goes on.')
    const title = source('service/src/a.test.ts', "test('what is sent waits', () => {})")
    const document = { path: 'docs/a.md', text: '# Title\n\nIt waits.\nWhat is sent\ngoes on.\n' }

    expect(checkProse([comment, title, document])).toHaveLength(3)
  })
})
