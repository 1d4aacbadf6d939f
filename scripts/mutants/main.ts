import { execFileSync, fork } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path/posix'
import { fileURLToPath } from 'node:url'
import { isTest, ROOT, readSources } from '../sources.ts'
import { type Mutant, mutantsOf } from './mutate.ts'
import { createAcceptance, isTimeOut, NO_END, type Result, scoreLines, toLine } from './report.ts'
import type { Job, Told } from './run-mutants.ts'
import { createTestFinder } from './tests-of.ts'
import { isEndless, usedSeconds } from './used-time.ts'

const REPORT = '.tmp/mutants.json'
const LOOK_MS = 15_000
// Nothing depends on an orderly end.
const CLOSE_MS = 5_000

// They share a process, whose start and imports take longer than most tests.
const AT_ONCE = 12

const say = (line: string) => void process.stdout.write(`${line}\n`)

/** `npm run mutants -- [--list] [--again] [--every=N] <files, lines as file.ts:12, or folders>` */
async function main(args: readonly string[]): Promise<void> {
  const every = Number(args.find((arg) => arg.startsWith('--every='))?.slice('--every='.length) ?? 1)
  const before = args.includes('--again') ? readReport() : []
  const left = new Set(
    before.filter((result) => result.outcome !== 'killed' || isTimeOut(result)).map(toLine),
  )
  const named = args.filter((arg) => !arg.startsWith('--')).map((path) => path.replace(/\/$/, ''))
  const wanted = [...named, ...new Set(before.map(({ file }) => file))]
  if (wanted.length === 0)
    throw new Error('Name files or folders, such as packages/service/src/stages/attest')
  const isWanted = (mutant: Mutant) => before.length === 0 || left.has(toLine(mutant))
  const jobs = findJobs(wanted, every, isWanted)
  const count = jobs.reduce((sum, { mutants }) => sum + mutants.length, 0)
  say(`${count} mutants of ${jobs.length} files`)
  if (args.includes('--list')) {
    for (const { mutants } of jobs) for (const { mutant } of mutants) say(toLine(mutant))
    return
  }
  const found = await runJobs(jobs)
  const again = new Map(found.map((result) => [toLine(result), result]))
  const results = before.length > 0 ? before.map((result) => again.get(toLine(result)) ?? result) : found
  mkdirSync(join(ROOT, dirname(REPORT)), { recursive: true })
  writeFileSync(join(ROOT, REPORT), `${JSON.stringify(results, undefined, 1)}\n`)
  const isAccepted = createAcceptance(readFileSync(join(ROOT, 'scripts/mutants/accepted.txt'), 'utf8'))
  for (const line of scoreLines(results, isAccepted)) say(line)
}

const readReport = (): Result[] => JSON.parse(readFileSync(join(ROOT, REPORT), 'utf8'))

function findJobs(wanted: readonly string[], every: number, isAsked: (mutant: Mutant) => boolean): Job[] {
  const sources = readSources()
  const reachOf = createTestFinder(sources)
  const isWanted = (path: string) =>
    wanted.some((each) => each.split(':')[0] === path || path.startsWith(`${each}/`))
  const isWantedLine = ({ file, line }: Mutant) =>
    wanted.some((each) => each === `${file}:${line}` || file === each || file.startsWith(`${each}/`))
  let id = 0
  return sources
    .filter(({ path }) => isWanted(path) && !isTest(path))
    .map(({ path, text }) => ({
      file: path,
      ...reachOf(path),
      atOnce: AT_ONCE,
      mutants: mutantsOf(path, text)
        .filter(isWantedLine)
        .map((mutant) => ({ id: id++, mutant }))
        .filter(({ id, mutant }) => id % every === 0 && isAsked(mutant)),
    }))
    .filter(({ mutants }) => mutants.length > 0)
}

/** In one process after the other: each ends together with its endless tests. */
async function runJobs(jobs: readonly Job[]): Promise<Result[]> {
  const results = new Map<number, Result>()
  const note: Note = ({ mutants }, id, outcome, by) => {
    const found = mutants.find((each) => each.id === id)
    if (!found) return
    results.set(id, { ...found.mutant, outcome, ...(by !== undefined && { by }) })
    if (outcome !== 'killed') say(`${outcome}: ${toLine(found.mutant)}`)
  }
  for (const job of jobs.filter(({ tests }) => tests.length === 0))
    for (const { id } of job.mutants) note(job, id, 'untested')
  let left = jobs.filter(({ tests }) => tests.length > 0)
  while (left.length > 0) {
    const { broken, stuck } = await runUntilStuck(left, note)
    left = left
      .filter(({ file }) => !broken.has(file))
      .map((job) => ({
        ...job,
        mutants: job.mutants.filter(({ id }) => !results.has(id)),
        // One of the mutants that ran together does not end: the next time it runs alone.
        atOnce: job.mutants.some(({ id }) => stuck.includes(id)) ? 1 : job.atOnce,
      }))
      .filter(({ mutants }) => mutants.length > 0)
  }
  return [...results.values()]
}

type Note = (job: Job, id: number, outcome: Result['outcome'], by?: string) => void

type Ended = { broken: ReadonlyMap<string, string>; stuck: readonly number[] }

/** Returns the files whose tests fail without a mutant, and the mutants that did not end. */
function runUntilStuck(jobs: readonly Job[], note: Note): Promise<Ended> {
  const worker = fork(fileURLToPath(new URL('run-mutants.ts', import.meta.url)), { detached: true })
  const broken = new Map<string, string>()
  let [running, stuck]: [number[], number[]] = [[], []]
  let trying: string | undefined
  const end = (id: number, by: string | undefined) => {
    running = running.filter((each) => each !== id)
    for (const job of jobs) note(job, id, by === undefined ? 'survived' : 'killed', by)
  }
  const giveUp = () => {
    const [only] = running
    if (running.length === 0 && trying !== undefined) broken.set(trying, NO_END)
    else if (running.length === 1 && only !== undefined) end(only, NO_END)
    stuck = running
    if (worker.pid !== undefined) process.kill(-worker.pid, 'SIGKILL')
  }
  let timer: NodeJS.Timeout | undefined
  // Looks are counted, not the time: the whole machine, or this process, may have been stopped in between.
  const look = (looks = 1, usedBefore = usedBy(worker.pid)) => {
    const silentSeconds = (looks * LOOK_MS) / 1_000
    if (isEndless({ usedSeconds: usedBy(worker.pid) - usedBefore, silentSeconds })) giveUp()
    else timer = setTimeout(() => look(looks + 1, usedBefore), LOOK_MS)
  }
  worker.on('message', (told: Told) => {
    clearTimeout(timer)
    timer = told.kind === 'done' ? setTimeout(giveUp, CLOSE_MS) : setTimeout(() => look(), LOOK_MS)
    if (told.kind === 'trying') trying = told.file
    if (told.kind === 'done') trying = undefined
    if (told.kind === 'broken') broken.set(told.file, told.by)
    if (told.kind === 'started') running = told.ids
    if (told.kind === 'ended') end(told.id, told.by)
  })
  worker.send(jobs as Job[])
  return new Promise((resolve, reject) => {
    worker.once('exit', (code) => {
      clearTimeout(timer)
      for (const [file, by] of broken) say(`broken: the tests of ${file} do not pass without a mutant: ${by}`)
      if (code && trying !== undefined) reject(new Error(`The tests ended with code ${code}`))
      else resolve({ broken, stuck })
    })
  })
}

/** By the worker and the processes of its tests, which are in its group. */
function usedBy(group: number | undefined): number {
  return usedSeconds(execFileSync('ps', ['-A', '-o', 'pgid=,time='], { encoding: 'utf8' }), group ?? -1)
}

await main(process.argv.slice(2))
