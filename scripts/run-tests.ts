import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureChromium } from './chromium.ts'

// It takes longest, and mostly waits for blocks: everything else runs beside it.
const LONGEST = 'e2e'
// The check finds most mistakes. The duration of the gate is part of its result, so no more runs beside it.
const FIRST = ['check', 'gate']
// Each has networks. More at once would slow each other down.
const WITH_NETWORK = ['clients', 'shape', 'faults']
const AT_ONCE = 2
// It uses the processors while the others wait.
const BESIDE = 'unit'
const LOWER_PRIORITY = 5
// Test files share a network or the processors, so a file can fail because of the others. Such a file runs once more
// when all others have ended. If it passes then, the run is green, and its end names the file and shows the failure.
const NEVER_AGAIN = FIRST

const TICKS_PER_SECOND = 100
const started = Date.now()
const reports = mkdtempSync(join(tmpdir(), 'geoswap-tests-'))
// Failures are printed last, where people look, and where a truncated log still has them.
const failed: string[] = []
const unsteady: string[] = []
const suspects: { project: string; files: string[]; output: string }[] = []
const say = (line: string) => void process.stdout.write(`${line}\n`)
const usedBy = new Map<string, number>()
let usedBefore = 0

/** Runs the projects of the list until it is empty or one of them has failed. */
async function runNext(projects: string[]): Promise<void> {
  for (let next = projects.shift(); next && failed.length === 0; next = projects.shift())
    await runProject(next)
}

async function runProject(project: string): Promise<void> {
  const selected = await selectTests(project)
  say(`${project}: started`)
  const { isGreen, output } = await runTests(project, selected)
  const files = isGreen || NEVER_AGAIN.includes(project) ? [] : failedFilesOf(project)
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

async function runAgain({ project, files, output }: (typeof suspects)[number]): Promise<void> {
  say(`${project}: once more ${files.join(' ')}`)
  const again = await runTests(project, files)
  if (again.isGreen)
    unsteady.push(`${output}\n${project}: UNSTEADY, failed once and passed alone: ${files.join(' ')}`)
  else finish(project, false, `${output}\n${project}: the second time\n${again.output}`)
}

function finish(project: string, isGreen: boolean, output: string): void {
  const seconds = Math.round((Date.now() - started) / 1_000)
  const used = Math.round(usedBy.get(project) ?? 0)
  const told = `${project}: ${isGreen ? 'passed' : 'FAILED'} after ${seconds} s; ${used} s of processor time`
  if (isGreen) say(`${output}\n${told}`)
  else {
    say(told)
    failed.push(`${output}\n${told}`)
  }
}

const reportOf = (project: string) => join(reports, `${project}.json`)

/** Empty if the project failed outside its test files. */
function failedFilesOf(project: string): string[] {
  if (!existsSync(reportOf(project))) return []
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

/** Linux adds up the processor time of ended children and theirs: the difference is that of the last one. */
function noteUsed(project: string): void {
  if (process.platform !== 'linux') return
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? []
  const used = (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND
  usedBy.set(project, (usedBy.get(project) ?? 0) + used - usedBefore)
  usedBefore = used
}

const left = [...WITH_NETWORK]
const longest = runProject(LONGEST)
await runNext([...FIRST])
await Promise.all([longest, ...Array.from({ length: AT_ONCE }, () => runNext(left)), runNext([BESIDE])])
for (const suspect of suspects) if (failed.length === 0) await runAgain(suspect)
for (const report of [...unsteady, ...failed]) say(report)
rmSync(reports, { recursive: true })
process.exitCode = failed.length === 0 ? 0 : 1
