import { dirname, join } from 'node:path/posix'
import { fileURLToPath } from 'node:url'
import { bannedNames, entryPoints, exceptions, type Rule, rules, typeCycles } from './import-rules.ts'
import { isTest, readSources, report, type Source } from './sources.ts'

export type Import = { target: string; typesOnly: boolean }

const IMPORT =
  /^\s*(?:import|export)\s+(type\s+)?([^'";]*?)\s*from\s*'([^']+)'|^\s*import\s+'([^']+)'|import\(\s*'([^']+)'/gm

/** All violations of the architecture: forbidden imports, cycles, banned names and habits. */
export function checkImports(sources: readonly Source[]): string[] {
  const graph = graphOf(sources)
  return [
    ...[...graph].flatMap(([file, imports]) => imports.flatMap((found) => judge(file, found) ?? [])),
    ...sources.flatMap(findCrossings),
    ...sources.filter(({ path }) => /\/src\//.test(path) && !isTest(path)).flatMap(findTestImports),
    ...sources.flatMap(findHabits),
    ...findCycle(graph),
  ]
}

/** The imports of each file. */
export function graphOf(sources: readonly Source[]): Map<string, Import[]> {
  return new Map(sources.map((source) => [nameOf(source.path), importsOf(source)]))
}

/** `packages/service/src/store/db.ts` is `service/store/db.ts`. */
export function nameOf(path: string): string {
  return path.replace(/^packages\//, '').replace(/^([\w-]+)\/src\//, '$1/')
}

function importsOf({ path, text }: Source): Import[] {
  return [...text.matchAll(IMPORT)].map(([, type, names, from, bare, dynamic]) => ({
    target: resolveTarget(path, from ?? bare ?? dynamic ?? ''),
    typesOnly: type !== undefined || isTypesOnly(names),
  }))
}

/** `import { type A, type B }` imports only types as well. */
function isTypesOnly(names: string | undefined): boolean {
  const list = names
    ?.match(/^\{([^}]*)\}$/)?.[1]
    ?.split(',')
    .filter((name) => name.trim())
  return list?.every((name) => /^\s*type\s/.test(name)) ?? false
}

function resolveTarget(path: string, specifier: string): string {
  const ours = /^@geoswap\/([\w-]+)(?:\/(.+))?$/.exec(specifier)
  if (ours) return `${ours[1]}/${ours[2] ?? 'index'}.ts`
  return specifier.startsWith('.') ? nameOf(join(dirname(path), specifier)) : specifier
}

function judge(file: string, { target, typesOnly }: Import): string | undefined {
  const rule = rules.find(({ files }) => files.test(file))
  if (!rule) return `${file}: no rule covers it; add one to scripts/import-rules.ts`
  const allowed = [...rule.may, ...(typesOnly ? (rule.mayTypesOf ?? []) : [])]
  if (allowed.some((pattern) => fill(pattern, rule, file).test(target))) return undefined
  if (isListed(exceptions, file, target)) return undefined
  return `${file} may not import ${target}: ${rule.name}`
}

function isListed(list: typeof exceptions, file: string, target: string): boolean {
  return list.some(({ from, to }) => from.test(file) && to.test(target))
}

function fill(pattern: RegExp, rule: Rule, file: string): RegExp {
  const groups = rule.files.exec(file)?.groups
  if (!groups || !pattern.source.includes('{')) return pattern
  return new RegExp(pattern.source.replace(/\{([a-z]+)\}/g, (whole, name: string) => groups[name] ?? whole))
}

/**
 * Another package is imported by its name, never by a path into it, except its generated files. Scripts of a package
 * may use those of the root.
 */
function findCrossings({ path, text }: Source): string[] {
  const own = /^packages\/[\w-]+\//.exec(path)?.[0]
  if (!own) return []
  const isScript = path.startsWith(`${own}scripts/`)
  const mayReach = (target: string) => target.startsWith(own) || (isScript && target.startsWith('scripts/'))
  return [...text.matchAll(IMPORT)]
    .map((match) => match[3] ?? match[5] ?? '')
    .filter(
      (specifier) => /^\.(?!.*\.gen\.\w+$)/.test(specifier) && !mayReach(join(dirname(path), specifier)),
    )
    .map((specifier) => `${nameOf(path)} reaches out of its package: ${specifier}`)
}

/** Production code imports nothing from the `test` folder of a package. */
function findTestImports(source: Source): string[] {
  return importsOf(source)
    .filter(({ target }) => /^[\w-]+\/test\//.test(target))
    .map(({ target }) => `${nameOf(source.path)} imports code of tests: ${target}`)
}

function findHabits({ path, text }: Source): string[] {
  const file = nameOf(path)
  const code = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
  const problems: string[] = []
  const banned = path.split('/').find((part) => bannedNames.has(part.replace(/\.tsx?$/, '')))
  if (banned) problems.push(`${file}: ${banned} is not a descriptive name; name it after its purpose`)
  if (/\/index\.ts$/.test(path) && !/^packages\/[\w-]+\/src\/index\.ts$/.test(path)) {
    problems.push(`${file}: index.ts belongs at the root of a package only`)
  }
  if (/\bprocess\.env\b/.test(code) && !entryPoints.some((entry) => entry.test(file))) {
    problems.push(`${file}: only entry points read process.env`)
  }
  if (/^export default\b/m.test(code) && !/\.config\.\w+$/.test(path))
    problems.push(`${file}: export default`)
  // A prepared statement fails when a migration adds a column to its result.
  if (/\b(select|returning) (\w+\.)?\*/i.test(code) && /^service\/(?!.*\.test\.ts$)/.test(file))
    problems.push(
      `${file}: a statement names its columns, so that a migration may add one while it is in use`,
    )
  if (SHARED_LOOPS.test(file) && !isTest(path)) problems.push(...findBareLoops(file, code))
  if (file.startsWith('service/swap/') && !file.endsWith('.test.ts'))
    problems.push(...findImpurities(file, code))
  return problems
}

// The parts whose loops run the work of many swaps, events, accounts or callers.
const SHARED_LOOPS = /^service\/(stages|engine|books|compose)\//

/** In a shared loop one item must not stop the others. A list of reads that is written out is no loop. */
function findBareLoops(file: string, code: string): string[] {
  const bare = [...code.matchAll(/\bPromise\.all\(/g)].filter(({ index }) => !isWrittenOut(code.slice(index)))
  const message =
    'Promise.all over items: use mapIsolated, allSettled of works that report their own errors, ' +
    'or mapOwn for what only the operator names'
  return bare.map(() => `${file}: ${message}`)
}

/** `Promise.all([a(), b()])`, without a spread. */
function isWrittenOut(call: string): boolean {
  const start = call.indexOf('(') + 1
  const list = call.slice(start).trimStart()
  if (!list.startsWith('[')) return false
  const end = endOfBrackets(list)
  return /^\s*,?\s*\)/.test(list.slice(end)) && !/[[,]\s*\.\.\./.test(list.slice(0, end))
}

/** The position after the bracket that closes the first one. */
function endOfBrackets(text: string): number {
  let depth = 0
  for (const [index, char] of [...text].entries()) {
    if (char === '[') depth += 1
    if (char === ']') depth -= 1
    if (depth === 0) return index + 1
  }
  return text.length
}

function findImpurities(file: string, code: string): string[] {
  const impure = code.match(/\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bperformance\.now\b/g) ?? []
  return impure.map((what) => `${file}: the rules of a swap are pure, it may not use ${what}`)
}

/** The shortest way from a file back to itself, if there is one; by imports of types too, unless listed. */
function findCycle(graph: Map<string, Import[]>): string[] {
  let shortest: string[] | undefined
  for (const start of graph.keys()) {
    const cycle = pathBack(graph, start)
    if (cycle && (!shortest || cycle.length < shortest.length)) shortest = cycle
  }
  return shortest ? [`cycle: ${shortest.join(' -> ')}`] : []
}

function pathBack(graph: Map<string, Import[]>, start: string): string[] | undefined {
  const cameFrom = new Map<string, string>()
  const queue = [start]
  for (const file of queue) {
    for (const { target, typesOnly } of graph.get(file) ?? []) {
      if (!graph.has(target) || (typesOnly && isListed(typeCycles, file, target))) continue
      if (target === start) return [...trace(cameFrom, file, start), start]
      if (cameFrom.has(target)) continue
      cameFrom.set(target, file)
      queue.push(target)
    }
  }
  return undefined
}

function trace(cameFrom: Map<string, string>, end: string, start: string): string[] {
  const path = [end]
  for (let file = end; file !== start; path.unshift(file)) file = cameFrom.get(file) ?? start
  return path
}

if (process.argv[1] === fileURLToPath(import.meta.url)) report('check-imports', checkImports(readSources()))
