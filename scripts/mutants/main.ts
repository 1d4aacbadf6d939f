import { fork } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path/posix'
import { fileURLToPath } from 'node:url'
import { isTest, ROOT, readSources } from '../sources.ts'
import { type Mutant, mutantsOf } from './mutate.ts'
import { createAcceptance, type Result, scoreLines, toLine } from './report.ts'
import type { Job, Told } from './run-mutants.ts'
import { createTestFinder } from './tests-of.ts'

const REPORT = '.tmp/mutants.json'
// Far more than the tests of a folder take: what takes longer runs in circles.
const LIMIT_MS = 120_000

const say = (line: string) => void process.stdout.write(`${line}\n`)

/** `npm run mutants -- [--list] [--every=N] <files, lines as file.ts:12, or folders>` */
async function main(args: readonly string[]): Promise<void> {
  const every = Number(args.find((arg) => arg.startsWith('--every='))?.slice('--every='.length) ?? 1)
  const wanted = args.filter((arg) => !arg.startsWith('--')).map((path) => path.replace(/\/$/, ''))
  if (wanted.length === 0) throw new Error('Name files or folders, such as packages/service/src/attester')
  const jobs = findJobs(wanted, every)
  const count = jobs.reduce((sum, { mutants }) => sum + mutants.length, 0)
  say(`${count} mutants of ${jobs.length} files`)
  if (args.includes('--list')) {
    for (const { mutants } of jobs) for (const { mutant } of mutants) say(toLine(mutant))
    return
  }
  const results = await runJobs(jobs)
  mkdirSync(join(ROOT, dirname(REPORT)), { recursive: true })
  writeFileSync(join(ROOT, REPORT), `${JSON.stringify(results, undefined, 1)}\n`)
  const isAccepted = createAcceptance(readFileSync(join(ROOT, 'docs/mutants.md'), 'utf8'))
  for (const line of scoreLines(results, isAccepted)) say(line)
}

function findJobs(wanted: readonly string[], every: number): Job[] {
  const sources = readSources()
  const testsOf = createTestFinder(sources)
  const isWanted = (path: string) =>
    wanted.some((each) => each.split(':')[0] === path || path.startsWith(`${each}/`))
  const isWantedLine = ({ file, line }: Mutant) =>
    wanted.some((each) => each === `${file}:${line}` || file === each || file.startsWith(`${each}/`))
  let id = 0
  return sources
    .filter(({ path }) => isWanted(path) && !isTest(path))
    .map(({ path, text }) => ({
      file: path,
      tests: testsOf(path),
      mutants: mutantsOf(path, text)
        .filter(isWantedLine)
        .map((mutant) => ({ id: id++, mutant }))
        .filter((each) => each.id % every === 0),
    }))
    .filter(({ mutants }) => mutants.length > 0)
}

/** In processes one after the other: each ends with what it cannot end. */
async function runJobs(jobs: readonly Job[]): Promise<Result[]> {
  const results = new Map<number, Result>()
  const note = (job: Job, id: number, fate: Result['fate']) => {
    const found = job.mutants.find((each) => each.id === id)
    if (!found) return
    results.set(id, { ...found.mutant, fate })
    if (fate !== 'killed') say(`${fate}: ${toLine(found.mutant)}`)
  }
  const untested = jobs.filter(({ tests }) => tests.length === 0)
  for (const job of untested) for (const { id } of job.mutants) note(job, id, 'untested')
  let left: Job[] = jobs.filter(({ tests }) => tests.length > 0)
  while (left.length > 0) {
    const broken = await runUntilStuck(left, note)
    const isLeft = (file: string, id: number) => !results.has(id) && !broken.has(file)
    left = left
      .map((job) => ({ ...job, mutants: job.mutants.filter(({ id }) => isLeft(job.file, id)) }))
      .filter(({ mutants }) => mutants.length > 0)
  }
  return [...results.values()]
}

type Note = (job: Job, id: number, fate: Result['fate']) => void

/** Answers with the files whose tests fail, or never end, without a mutant. */
function runUntilStuck(jobs: readonly Job[], note: Note): Promise<ReadonlySet<string>> {
  const worker = fork(fileURLToPath(new URL('run-mutants.ts', import.meta.url)), { detached: true })
  const jobOf = (id: number) => jobs.find(({ mutants }) => mutants.some((each) => each.id === id))
  const broken = new Set<string>()
  let last: Told | undefined
  const hear = (told: Told) => {
    last = told
    if (told.kind === 'broken') {
      say(`broken: the tests of ${told.file} do not pass without a mutant`)
      broken.add(told.file)
    }
    const job = told.kind === 'ended' ? jobOf(told.id) : undefined
    if (job && told.kind === 'ended') note(job, told.id, told.isKilled ? 'killed' : 'survived')
  }
  const end = () => {
    if (last?.kind === 'started') hear({ kind: 'ended', id: last.id, isKilled: true })
    if (last?.kind === 'trying') hear({ kind: 'broken', file: last.file })
    if (worker.pid !== undefined) process.kill(-worker.pid, 'SIGKILL')
  }
  let timer: NodeJS.Timeout | undefined
  worker.on('message', (told: Told) => {
    clearTimeout(timer)
    timer = setTimeout(end, LIMIT_MS)
    hear(told)
  })
  worker.send(jobs as Job[])
  return new Promise((resolve, reject) => {
    worker.once('exit', (code) => {
      clearTimeout(timer)
      if (code) reject(new Error(`The tests ended with code ${code}`))
      else resolve(broken)
    })
  })
}

await main(process.argv.slice(2))
