import { expect, test } from 'vitest'
import { countFigures, findRisen, lower } from './figures.ts'

const source = (path: string, ...lines: string[]) => ({ path, text: `${lines.join('\n')}\n` })
const wiring = source(
  'packages/service/src/flow/deps.ts',
  'export type Deps = {',
  '  db: Pool',
  '  now(): number',
  '  send: (bytes: Hex) => Promise<void>',
  '  readonly find?: (id: string) => Swap',
  '  log: Log',
  '  name: string',
  '}',
)

test('product files are counted with their lines, without tests, scripts and the local network', () => {
  const sources = [
    source('packages/sdk/src/client.ts', '', ''),
    source('packages/web/src/page.tsx', ''),
    source('packages/sdk/src/client.test.ts', ''),
    source('packages/sdk/scripts/build.ts', ''),
    source('packages/devnet/src/main.ts', ''),
    source('test/world.ts', ''),
  ]

  expect(countFigures(sources)).toMatchObject({ 'product files': 2, 'product lines': 3 })
})

test('a file with one importer counts if that stands in the same folder', () => {
  const sources = [
    source('packages/sdk/src/a.ts', "import { b } from './b.ts'", "import { c } from './far/c.ts'"),
    source('packages/sdk/src/b.ts', "import { d } from './d.ts'"),
    source('packages/sdk/src/d.ts', ''),
    source('packages/sdk/src/far/c.ts', "import { d } from '../d.ts'"),
  ]

  expect(countFigures(sources)).toMatchObject({
    'files with one importer, in the same folder': 1,
    'lines of these': 1,
  })
})

test('files that name a family, wide types, conditional spreads and casts of tests are counted', () => {
  const sources = [
    wiring,
    source(
      'packages/sdk/src/a.ts',
      "if (family === 'evm') run()",
      'const x = { ...(a && { a }), ...(b(1) && { b }) }',
    ),
    source('packages/sdk/src/a.test.ts', "const swap = {} as unknown as Swap // 'evm'"),
  ]

  expect(countFigures(sources)).toMatchObject({
    'product files that name a family': 1,
    'types of 6 or more members, 3 or more of them functions': 1,
    'conditional spreads': 2,
    'casts by unknown in tests': 1,
  })
})

test('a figure above its limit is a problem, and so is one without a limit; one below becomes the limit', () => {
  const [figures, limits] = [
    { files: 9, lines: 120, spreads: 3 },
    { files: 10, lines: 100 },
  ]

  expect(findRisen(figures, limits)).toEqual(['lines: 120, at most 100', 'spreads: has no limit'])
  expect(lower(limits, figures)).toEqual({ files: 9, lines: 100, spreads: 3 })
})
