import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureChromium } from './chromium.ts'

// e2e takes longest and mostly waits for blocks, so all others run beside it.
const LONGEST = 'e2e'
// The check finds most mistakes. The gate measures time, so only e2e runs beside it.
const FIRST = ['check', 'gate']
// Each project starts networks; more than two at once slow each other down.
const WITH_NETWORK = ['clients', 'shape', 'faults']
const AT_ONCE = 2
// The unit tests use the processors while the others wait.
const BESIDE = 'unit'
const LOWER_PRIORITY = 5
// Only e2e runs beside these, so a failure is their own.
const NEVER_AGAIN = FIRST

const TICKS_PER_SECOND = 100
const started = Date.now()
const reports = mkdtempSync(join(tmpdir(), 'geoswap-tests-'))
// Failures are printed last, where people look, and where a truncated log still has them.
const failed: string[] = []
const flaky: string[] = []
const suspects: { project: string; files: string[]; output: string }[] = []
const say = (line: string) => void process.stdout.write(`${line}\n`)
const usedBy = new Map<string, number>()
let usedBefore = 0

/** Runs the projects of the list until it is empty or one of them has failed. */
async function runProjects(projects: string[]): Promise<void> {
  for (let next = projects.shift(); next && failed.length === 0; next = projects.shift())
    await runProject(next)
}

async function runProject(project: string): Promise<void> {
  const selected = await selectTests(project)
  say(`${project}: started`)
  const { isGreen, output } = await runTests(project, selected)
  const files = isGreen || NEVER_AGAIN.includes(project) ? [] : failedFilesOf(project, output)
  if (files.length === 0) return finish(project, isGreen, output)
  say(`${project}: to run once more: ${files.join(' ')}`)
  suspects.push({ project, files, output })
}

/** The arguments that select a part of a project. */
async function selectTests(project: string): Promise<string[]> {
  if (project !== 'clients' || (await ensureChromium(say))) return []
  say('test/browser: LEFT OUT, no Chromium. Install one, or name it: CHROMIUM=/path/to/chromium npm test')
  return ['--exclude=test/browser/**']
}

/**
 * Test files share a network or the processors, so a file can fail because of others. One that passes alone does not
 * fail the run, but is reported.
 */
async function runAgain({ project, files, output }: (typeof suspects)[number]): Promise<void> {
  say(`${project}: once more ${files.join(' ')}`)
  const again = await runTests(project, files)
  if (again.isGreen)
    flaky.push(`${output}\n${project}: FLAKY, failed once and passed alone: ${files.join(' ')}`)
  else finish(project, false, `${output}\n${project}: the second time\n${again.output}`)
}

function finish(project: string, isGreen: boolean, output: string): void {
  const seconds = Math.round((Date.now() - started) / 1_000)
  const used = Math.round(usedBy.get(project) ?? 0)
  const told = `${project}: ${isGreen ? 'passed' : 'FAILED'} ${seconds} s after the start; ${used} s of processor time`
  if (isGreen) say(`${output}\n${told}`)
  else {
    say(told)
    failed.push(`${output}\n${told}`)
  }
}

const reportOf = (project: string) => join(reports, `${project}.json`)

// As vitest reports errors that no test caught, and those of the end of a network.
const OUTSIDE = /Unhandled Error|error during close/

/** The failed files. Empty if there was an error outside of them, since a second run of the files would not show it. */
function failedFilesOf(project: string, output: string): string[] {
  if (!existsSync(reportOf(project)) || OUTSIDE.test(output)) return []
  const { testResults }: { testResults: { name: string; status: string }[] } = JSON.parse(
    readFileSync(reportOf(project), 'utf8'),
  )
  return testResults.filter(({ status }) => status === 'failed').map(({ name }) => name)
}

/** The output is kept until the end, since interleaved output is unreadable. */
function runTests(project: string, selected: string[]): Promise<{ isGreen: boolean; output: string }> {
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportOf(project)}`]
  const [command, ...args] =
    project === 'check'
      ? ['npm', 'run', '-s', 'check']
      : [
          process.execPath,
          'node_modules/vitest/vitest.mjs',
          'run',
          '--project',
          project,
          ...reporters,
          ...selected,
        ]
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  if (child.pid !== undefined && project === BESIDE) setPriority(child.pid, LOWER_PRIORITY)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  child.on('exit', () => noteUsed(project))
  return new Promise((resolve) => child.on('close', (code) => resolve({ isGreen: code === 0, output })))
}

/** Attributes the processor time of all children that ended since the last call to this project. Linux only. */
function noteUsed(project: string): void {
  if (process.platform !== 'linux') return
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? []
  const used = (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND
  usedBy.set(project, (usedBy.get(project) ?? 0) + used - usedBefore)
  usedBefore = used
}

const left = [...WITH_NETWORK]
const longest = runProject(LONGEST)
await runProjects([...FIRST])
await Promise.all([
  longest,
  ...Array.from({ length: AT_ONCE }, () => runProjects(left)),
  runProjects([BESIDE]),
])
for (const suspect of suspects) {
  if (failed.length === 0) await runAgain(suspect)
  else finish(suspect.project, false, suspect.output)
}
for (const report of [...flaky, ...failed]) say(report)
rmSync(reports, { recursive: true })
process.exitCode = failed.length === 0 ? 0 : 1
