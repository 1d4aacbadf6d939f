import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { patience } from '../test/patience.ts'
import { ensureChromium } from './chromium.ts'
import { type Part, type Report, summarize, tally } from './test-tally.ts'

// e2e takes longest and mostly waits for blocks, so all others run beside it.
const LONGEST = 'e2e'
// The check finds most mistakes. The gate uses both processors, so only e2e runs beside it.
const FIRST = ['check', 'gate']
// Each project starts networks; more than two at once slow each other down.
const WITH_NETWORK = ['clients', 'shape', 'faults']
const AT_ONCE = 2
// The unit tests use the processors while the others wait.
const BESIDE = 'unit'
const LOWER_PRIORITY = 5
// Only e2e runs beside these, so a failure is their own.
const NEVER_AGAIN = FIRST
const TELL_MS = 60_000
// Longer than any of them says nothing.
const SILENT_MS = 600_000 * patience

const TICKS_PER_SECOND = 100
const started = Date.now()
const reports = mkdtempSync(join(tmpdir(), 'geoswap-tests-'))
// The last lines list these, where people look, and where a truncated log still has them.
const parts = new Map<string, Part>()
const troubles: string[] = []
const suspects: { project: string; files: string[]; ran: Ran }[] = []
const running = new Map<string, Running>()
const say = (line: string) => void process.stdout.write(`${line}\n`)
const usedBy = new Map<string, number>()
let usedBefore = 0

type Ran = { isGreen: boolean; output: string; report?: Report | undefined }
type Running = { child: ChildProcess; output: string; since: number; saidAt: number }

/** Runs the projects of the list, one after the other. A failed one does not keep the next from running. */
async function runProjects(projects: string[]): Promise<void> {
  for (let next = projects.shift(); next; next = projects.shift()) await runProject(next)
}

async function runProject(project: string): Promise<void> {
  const selected = await selectTests(project)
  say(`${project}: started`)
  const ran = await runTests(project, selected)
  const files = ran.isGreen || NEVER_AGAIN.includes(project) ? [] : failedFilesOf(ran)
  if (files.length === 0) return finish(project, [ran])
  say(`${project}: to run once more: ${files.join(' ')}`)
  suspects.push({ project, files, ran })
}

/** The arguments that select a part of a project. */
async function selectTests(project: string): Promise<string[]> {
  if (project !== 'clients' || (await ensureChromium(say))) return []
  const left = 'no Chromium: install one, or name it: CHROMIUM=/path/to/chromium npm test'
  parts.set('test/browser', { name: 'test/browser', passed: 0, failed: 0, seconds: 0, left })
  say(`test/browser: LEFT OUT, ${left}`)
  return ['--exclude=test/browser/**']
}

/**
 * Test files share a network or the processors, so a file can fail because of others. One that passes alone does not
 * fail the run, but is reported.
 */
async function runAgain({ project, files, ran }: (typeof suspects)[number]): Promise<void> {
  say(`${project}: once more ${files.join(' ')}`)
  finish(project, [ran, await runTests(project, files)], files)
}

function finish(project: string, runs: readonly Ran[], files: readonly string[] = []): void {
  const isGreen = runs.at(-1)?.isGreen ?? false
  const seconds = secondsSince(started)
  const used = Math.round(usedBy.get(project) ?? 0)
  const told = `${project}: ${isGreen ? 'passed' : 'FAILED'} ${seconds} s after the start; ${used} s of processor time`
  const output = runs.map((ran) => ran.output).join(`\n${project}: the second time\n`)
  const reported = project === 'check' ? { passed: isGreen ? 1 : 0, failed: isGreen ? 0 : 1 } : undefined
  const counts =
    reported ??
    tally(
      runs.map(({ report }) => report),
      isGreen,
    )
  parts.set(project, { name: project, ...counts, seconds, ...(isGreen && { flaky: files }) })
  const isPlain = isGreen && runs.length === 1
  say(isPlain ? `${output}\n${told}` : told)
  if (!isPlain) troubles.push(`${output}\n${told}`)
}

// As vitest reports errors that no test caught, and those of the end of a network.
const OUTSIDE = /Unhandled Error|error during close/

/** The failed files. Empty if there was an error outside of them, since a second run of the files would not show it. */
function failedFilesOf({ output, report }: Ran): string[] {
  if (!report || OUTSIDE.test(output)) return []
  return report.testResults.filter(({ status }) => status === 'failed').map(({ name }) => name)
}

/** The output is kept until the end, since interleaved output is unreadable. */
function runTests(project: string, selected: string[]): Promise<Ran> {
  const file = join(reports, `${project}.json`)
  rmSync(file, { force: true })
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--project', project]
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`]
  const [command, ...args] =
    project === 'check'
      ? ['npm', 'run', '-s', 'check']
      : [process.execPath, ...vitest, ...reporters, ...selected]
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  if (child.pid !== undefined && project === BESIDE) setPriority(child.pid, LOWER_PRIORITY)
  const here: Running = { child, output: '', since: Date.now(), saidAt: Date.now() }
  running.set(project, here)
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      here.output += text
      here.saidAt = Date.now()
    })
  }
  child.on('exit', () => noteUsed(project))
  return new Promise((resolve) =>
    child.on('close', (code) => {
      running.delete(project)
      const report = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
      resolve({ isGreen: code === 0, output: here.output, report })
    }),
  )
}

/** So that nobody waits without a word. A project that has said nothing for long is ended, as failed. */
function tell(): void {
  for (const [project, here] of running) {
    say(`${project}: runs since ${secondsSince(here.since)} s: ${here.output.trimEnd().split('\n').at(-1)}`)
    if (Date.now() - here.saidAt < SILENT_MS) continue
    here.output += `\n${project} said nothing for ${SILENT_MS / 1_000} s`
    here.child.kill()
  }
}

const secondsSince = (time: number) => Math.round((Date.now() - time) / 1_000)

/** Attributes the processor time of all children that ended since the last call to this project. Linux only. */
function noteUsed(project: string): void {
  if (process.platform !== 'linux') return
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? []
  const used = (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND
  usedBy.set(project, (usedBy.get(project) ?? 0) + used - usedBefore)
  usedBefore = used
}

/** All parts, also those that have not ended, if the run was interrupted. */
function close(): void {
  for (const name of [...FIRST, LONGEST, ...WITH_NETWORK, BESIDE])
    if (!parts.has(name))
      parts.set(name, { name, passed: 0, failed: 0, seconds: 0, left: 'the run was interrupted' })
  rmSync(reports, { recursive: true })
  for (const line of [...troubles, '', ...summarize([...parts.values()])]) say(line)
}

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  process.once(signal, () => {
    close()
    for (const { child } of running.values()) child.kill()
    process.exit(code)
  })
const telling = setInterval(tell, TELL_MS)
const left = [...WITH_NETWORK]
const longest = runProject(LONGEST)
await runProjects([...FIRST])
await Promise.all([
  longest,
  ...Array.from({ length: AT_ONCE }, () => runProjects(left)),
  runProjects([BESIDE]),
])
for (const suspect of suspects) await runAgain(suspect)
clearInterval(telling)
close()
process.exitCode = [...parts.values()].some(({ failed }) => failed > 0) ? 1 : 0
