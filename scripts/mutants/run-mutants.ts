import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'vite'
import { createVitest } from 'vitest/node'
import config from '../../vitest.config.ts'
import { ROOT } from '../sources.ts'
import { applyEdit, type Mutant } from './mutate.ts'
import { startServer } from './server.ts'

/** One file: the tests that are about it, and its mutants with their numbers. */
export type Job = {
  file: string
  tests: readonly string[]
  mutants: readonly { id: number; mutant: Mutant }[]
}
export type Told =
  | { kind: 'trying'; file: string }
  | { kind: 'started'; id: number }
  | { kind: 'ended'; id: number; isKilled: boolean }
  | { kind: 'broken'; file: string }

// A process of its own: what loops forever is ended with it, by whoever started it.
process.once('message', (jobs) => void runAll(jobs as Job[]))

async function runAll(jobs: readonly Job[]): Promise<void> {
  const current: { path?: string; text?: string } = {}
  const mutate: Plugin = {
    name: 'mutate',
    enforce: 'pre',
    load: (id) => (id === current.path ? current.text : undefined),
  }
  const unit = config.test?.projects?.flatMap((project) =>
    typeof project === 'object' && 'test' in project && project.test?.name === 'unit' ? [project.test] : [],
  )[0]
  const options = { ...unit, root: ROOT, config: false, watch: false, maxWorkers: 1, bail: 1 } as const
  const vitest = await createVitest(
    'test',
    { ...options, reporters: [{}], silent: true },
    { plugins: [mutate] },
  )
  const project = vitest.getRootProject()
  const server = await startServer()
  vitest.provide('testServer', server.provided)

  const isGreen = async (tests: readonly string[]): Promise<boolean> => {
    const specifications = tests.map((test) => project.createSpecification(join(ROOT, test)))
    const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications)
    const ran = new Set(specifications.map(({ moduleId }) => moduleId))
    await server.dropDatabases()
    const isEachOk = testModules.filter(({ moduleId }) => ran.has(moduleId)).every((module) => module.ok())
    return isEachOk && unhandledErrors.length === 0
  }
  for (const { file, tests, mutants } of jobs) {
    const path = join(ROOT, file)
    const source = readFileSync(path, 'utf8')
    tell({ kind: 'trying', file })
    if (!(await isGreen(tests))) {
      tell({ kind: 'broken', file })
      continue
    }
    for (const { id, mutant } of mutants) {
      tell({ kind: 'started', id })
      Object.assign(current, { path, text: applyEdit(source, mutant) })
      vitest.invalidateFile(path)
      tell({ kind: 'ended', id, isKilled: !(await isGreen(tests)) })
    }
    Object.assign(current, { path: undefined })
    vitest.invalidateFile(path)
  }
  await vitest.close()
  await server.stop()
  // Tests that fail are the point.
  process.exitCode = 0
  process.disconnect()
}

function tell(told: Told): void {
  process.send?.(told)
}
