import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'vite'
import { configDefaults } from 'vitest/config'
import {
  BaseSequencer,
  createVitest,
  type TestModule,
  type TestSpecification,
  type Vitest,
} from 'vitest/node'
import config from '../../vitest.config.ts'
import { ROOT } from '../sources.ts'
import { testParts } from '../test-parts.ts'
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
  | { kind: 'done' }

const WRAPPERS = join(ROOT, '.tmp/mutants')

// A separate process: its parent ends it together with endless loops.
process.once('message', (jobs) => void runAll(jobs as Job[]))

async function runAll(jobs: readonly Job[]): Promise<void> {
  mkdirSync(WRAPPERS, { recursive: true })
  const current: { job?: Job } = {}
  const vitest = await openVitest(current)
  const server = await startServer()
  vitest.provide('testServer', server.provided)
  const passed = new Set<string>()
  for (const job of jobs) {
    current.job = job
    tell({ kind: 'trying', file: job.file })
    const by = await findBroken(vitest, job, passed)
    if (by !== undefined) tell({ kind: 'broken', file: job.file, by })
    else await runMutants(vitest, job, () => server.dropDatabases(() => tell({ kind: 'running' })))
  }
  tell({ kind: 'done' })
  await vitest.close()
  await server.stop()
  rmSync(WRAPPERS, { recursive: true })
  // Failing tests are expected.
  process.exitCode = 0
  process.disconnect()
}

// No mutant: the tests have to pass without one.
const NONE = -1

/** The first test that fails without a mutant. A test that has passed for another file does not run again. */
async function findBroken(vitest: Vitest, job: Job, passed: Set<string>): Promise<string | undefined> {
  const tests = job.tests.filter((test) => !passed.has(test))
  const by = (await findKillers(vitest, { ...job, tests }, [NONE])).get(NONE)
  if (by === undefined) for (const test of tests) passed.add(test)
  return by
}

/** As given: the tests of a mutant are skipped after the first that fails. */
class InOrder extends BaseSequencer {
  override sort = async (files: TestSpecification[]) => files
}

// The parts whose tests need no network.
const PARTS = ['unit', 'searches', 'lies']

async function openVitest(current: { job?: Job }): Promise<Vitest> {
  const unit = config.test?.projects?.flatMap((project) =>
    typeof project === 'object' && 'test' in project && project.test?.name === 'unit' ? [project.test] : [],
  )[0]
  const options = {
    ...unit,
    include: testParts.filter(({ name }) => PARTS.includes(name)).flatMap(({ files }) => files),
    exclude: configDefaults.exclude,
    root: ROOT,
    config: false,
    watch: false,
    maxWorkers: 1,
    testTimeout: 30_000,
    silent: true,
    sequence: { sequencer: InOrder },
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

const MARK = /\?mutant=(-?\d+)r\d+$/

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

// A process may serve several runs and keeps its modules: each run has its own.
let run = 0

/** The failing test of each mutant. All run in one process, each with its own modules. */
async function findKillers(
  vitest: Vitest,
  job: Job,
  ids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const project = vitest.getRootProject()
  run += 1
  const mutantOf = new Map(
    ids.flatMap((id) =>
      job.tests.map((test, index) => [writeWrapper(`${id}r${run}`, index, test), id] as const),
    ),
  )
  const specifications = [...mutantOf.keys()].map((path) => project.createSpecification(path))
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications)
  const killers = new Map<number, string>()
  for (const module of testModules) {
    const id = mutantOf.get(module.moduleId)
    if (id !== undefined && !module.ok()) killers.set(id, killerIn(module))
  }
  const [unhandled] = unhandledErrors as Error[]
  const left = unhandled ? ids.filter((id) => !killers.has(id)) : []
  // With several mutants the error cannot be attributed to one of them.
  if (unhandled && ids.length === 1) for (const id of left) killers.set(id, unhandled.message)
  else for (const id of left) for (const each of await findKillers(vitest, job, [id])) killers.set(...each)
  return killers
}

function killerIn(module: TestModule): string {
  const [test] = module.children.allTests('failed')
  const [error] = test ? (test.result().errors ?? []) : module.errors()
  return `${test?.name ?? 'import'}: ${error?.message}`
}

/** The first failing test is enough, over all test files of the mutant. */
function writeWrapper(mutant: string, index: number, test: string): string {
  const path = join(WRAPPERS, `${mutant}-${index}.test.ts`)
  writeFileSync(
    path,
    `import { afterEach, beforeEach, test } from 'vitest'
const killed = (globalThis.killedMutants ??= new Set())
if (killed.has('${mutant}')) test('another test has noticed', () => {})
else await import('${join(ROOT, test)}?mutant=${mutant}')
beforeEach(({ skip }) => skip(killed.has('${mutant}')))
afterEach(({ task }) => {
  if (task.result?.state === 'fail') killed.add('${mutant}')
})
`,
  )
  return path
}

function tell(told: Told): void {
  process.send?.(told)
}
