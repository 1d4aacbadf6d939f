import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'vite'
import { createVitest, type TestModule, type Vitest } from 'vitest/node'
import config from '../../vitest.config.ts'
import { ROOT } from '../sources.ts'
import { applyEdit, type Mutant } from './mutate.ts'
import { startServer } from './server.ts'
import type { Reach } from './tests-of.ts'

/** One file with its numbered mutants; `atOnce` of them run together. */
export type Job = Reach & {
  file: string
  mutants: readonly { id: number; mutant: Mutant }[]
  atOnce: number
}
export type Told =
  | { kind: 'trying'; file: string }
  | { kind: 'broken'; file: string; by: string }
  | { kind: 'started'; ids: number[] }
  | { kind: 'running' }
  /** `by` is the first test that failed, or another failure. */
  | { kind: 'ended'; id: number; by: string | undefined }

const WRAPPERS = join(ROOT, '.tmp/mutants')
// No mutant: the tests have to pass without one.
const NONE = -1

// A separate process: its parent ends it together with endless loops.
process.once('message', (jobs) => void runAll(jobs as Job[]))

async function runAll(jobs: readonly Job[]): Promise<void> {
  mkdirSync(WRAPPERS, { recursive: true })
  const current: { job?: Job } = {}
  const vitest = await openVitest(current)
  const server = await startServer()
  vitest.provide('testServer', server.provided)
  for (const job of jobs) {
    current.job = job
    tell({ kind: 'trying', file: job.file })
    const by = (await findKillers(vitest, job, [NONE])).get(NONE)
    if (by !== undefined) tell({ kind: 'broken', file: job.file, by })
    else await runMutants(vitest, job, () => server.dropDatabases(() => tell({ kind: 'running' })))
  }
  await vitest.close()
  await server.stop()
  rmSync(WRAPPERS, { recursive: true })
  // Failing tests are expected.
  process.exitCode = 0
  process.disconnect()
}

async function openVitest(current: { job?: Job }): Promise<Vitest> {
  const unit = config.test?.projects?.flatMap((project) =>
    typeof project === 'object' && 'test' in project && project.test?.name === 'unit' ? [project.test] : [],
  )[0]
  const options = {
    ...unit,
    root: ROOT,
    config: false,
    watch: false,
    maxWorkers: 1,
    testTimeout: 10_000,
    silent: true,
  } as const
  const reporter = { onTestModuleEnd: () => tell({ kind: 'running' }) }
  return createVitest('test', { ...options, reporters: [reporter] }, { plugins: [mutate(current)] })
}

async function runMutants(vitest: Vitest, job: Job, tidy: () => Promise<void>): Promise<void> {
  for (let from = 0; from < job.mutants.length; from += job.atOnce) {
    const ids = job.mutants.slice(from, from + job.atOnce).map(({ id }) => id)
    tell({ kind: 'started', ids })
    const killers = await findKillers(vitest, job, ids)
    for (const id of ids) tell({ kind: 'ended', id, by: killers.get(id) })
    await tidy()
  }
}

const MARK = /\?mutant=(-?\d+)$/

/** Serves a mutated copy of its file, and of all files that reach it, to tests that request that mutant. */
function mutate(current: { job?: Job }): Plugin {
  return {
    name: 'mutate',
    enforce: 'pre',
    async resolveId(source, importer = '') {
      if (MARK.test(source)) return source
      const [mark] = MARK.exec(importer) ?? []
      if (mark === undefined) return undefined
      const found = await this.resolve(source, importer.replace(MARK, ''), { skipSelf: true })
      const isAffected = current.job?.affected.some((file) => join(ROOT, file) === found?.id)
      return found && isAffected ? found.id + mark : found
    },
    load(id) {
      const [mark, number] = MARK.exec(id) ?? []
      if (mark === undefined) return undefined
      const path = id.replace(MARK, '')
      const text = readFileSync(path, 'utf8')
      const found = current.job?.mutants.find((each) => each.id === Number(number))
      return found && path === join(ROOT, found.mutant.file) ? applyEdit(text, found.mutant) : text
    },
  }
}

/** The failing test of each mutant. All run in one process, each with its own modules. */
async function findKillers(
  vitest: Vitest,
  job: Job,
  ids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const project = vitest.getRootProject()
  const mutantOf = new Map(
    ids.flatMap((id) => job.tests.map((test, index) => [writeWrapper(id, index, test), id] as const)),
  )
  const specifications = [...mutantOf.keys()].map((path) => project.createSpecification(path))
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications)
  const killers = new Map<number, string>()
  const [unhandled] = unhandledErrors as Error[]
  if (unhandled && ids.length > 1) {
    // The error cannot be attributed to one mutant.
    for (const id of ids) for (const each of await findKillers(vitest, job, [id])) killers.set(...each)
    return killers
  }
  if (unhandled) return new Map(ids.map((id) => [id, unhandled.message]))
  for (const module of testModules) {
    const id = mutantOf.get(module.moduleId)
    if (id !== undefined && !module.ok()) killers.set(id, killerIn(module))
  }
  return killers
}

function killerIn(module: TestModule): string {
  const [test] = module.children.allTests('failed')
  const [error] = test ? (test.result().errors ?? []) : module.errors()
  return `${test?.name ?? 'import'}: ${error?.message}`
}

/** The first failing test is enough, over all test files of the mutant. */
function writeWrapper(id: number, index: number, test: string): string {
  const path = join(WRAPPERS, `${id}-${index}.test.ts`)
  writeFileSync(
    path,
    `import { afterEach, beforeEach, test } from 'vitest'
const killed = (globalThis.killedMutants ??= new Set())
if (killed.has(${id})) test('another test has noticed', () => {})
else await import('${join(ROOT, test)}?mutant=${id}')
beforeEach(({ skip }) => skip(killed.has(${id})))
afterEach(({ task }) => {
  if (task.result?.state === 'fail') killed.add(${id})
})
`,
  )
  return path
}

function tell(told: Told): void {
  process.send?.(told)
}
