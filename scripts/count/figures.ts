import { dirname } from 'node:path/posix'
import { graphOf, nameOf } from '../check-imports.ts'
import { isTest, type Source } from '../sources.ts'

export type Figures = Readonly<Record<string, number>>

// Parts of the local network and the assembler are no product.
const OTHERS = new Set(['devnet', 'solana-rpc', 'sbpf'])
const FAMILY = /family ===|\.solana\b|'evm'|'solana'/
const CAST = /\bas unknown as\b/g
const SPREAD = /\.\.\.\([^{}\n]*&&\s*\{/g
const RECORD = /^(?:export )?(?:type|interface) \w+[^\n]*\{\n([\s\S]*?)^\}/gm
const MEMBER = /^ {2}(readonly )?\w+\??[(:<]/
const FUNCTION = /^ {2}\w+\??[(<]|=>/

/** How many pieces the code has, counted on its text as biome formats it. */
export function countFigures(sources: readonly Source[]): Figures {
  const product = sources.filter(({ path }) => isProduct(path))
  const single = filesWithOneNeighbour(product)
  const tests = sources.filter(({ path }) => isTest(path))
  return {
    'product files': product.length,
    'product lines': linesOf(product),
    'files with one importer, in the same folder': single.length,
    'lines of these': linesOf(single),
    'product files that name a family': product.filter(({ text }) => FAMILY.test(text)).length,
    'types of 6 or more members, 3 or more of them functions': sum(product, countRecords),
    'conditional spreads': sum(product, ({ text }) => countMatches(text, SPREAD)),
    'casts by unknown in tests': sum(tests, ({ text }) => countMatches(text, CAST)),
  }
}

/** TypeScript of the packages that are shipped, without tests and generated files. */
function isProduct(path: string): boolean {
  const folder = /^packages\/([\w-]+)\/src\//.exec(path)?.[1]
  return folder !== undefined && !OTHERS.has(folder) && !isTest(path) && !/\.test\.tsx$/.test(path)
}

/** Files that exactly one other file imports, which stands beside them. See docs/decisions.md#whole-files. */
function filesWithOneNeighbour(product: readonly Source[]): Source[] {
  const graph = graphOf(product)
  const importers = new Map<string, Set<string>>()
  for (const [file, imports] of graph)
    for (const { target } of imports)
      importers.set(target, (importers.get(target) ?? new Set<string>()).add(file))
  return product.filter(({ path }) => {
    const name = nameOf(path)
    const [only, ...more] = importers.get(name) ?? []
    return only !== undefined && more.length === 0 && dirname(only) === dirname(name)
  })
}

/** Types whose members are given rather than imported: what a root has to wire. */
function countRecords({ text }: Source): number {
  return [...text.matchAll(RECORD)].filter(([, body = '']) => {
    const members = body.split('\n').filter((line) => MEMBER.test(line))
    return members.length >= 6 && members.filter((line) => FUNCTION.test(line)).length >= 3
  }).length
}

const linesOf = (files: readonly Source[]) => sum(files, ({ text }) => countMatches(text, /\n/g))
const sum = (files: readonly Source[], count: (file: Source) => number) =>
  files.reduce((total, file) => total + count(file), 0)
const countMatches = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0

/** The figures that are above their limits, and those that the limits do not know. */
export function findRisen(figures: Figures, limits: Figures): string[] {
  return Object.entries(figures).flatMap(([name, figure]) => {
    const limit = limits[name]
    if (limit === undefined) return [`${name}: has no limit`]
    return figure > limit ? [`${name}: ${figure}, at most ${limit}`] : []
  })
}

/** The limits with what fell, and with figures that are new. */
export function lower(limits: Figures, figures: Figures): Figures {
  const fallen = Object.entries(figures).map(([name, figure]) => [
    name,
    Math.min(figure, limits[name] ?? figure),
  ])
  return { ...limits, ...Object.fromEntries(fallen) }
}
