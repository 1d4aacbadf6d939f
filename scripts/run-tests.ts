import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { patience } from '../test/patience.ts'
import { ensureChromium } from './chromium.ts'
import { startable, type TestCommand, type TestPart, testParts } from './test-parts.ts'
import { type Ended, judge, type Ran, summarize, toldElsewhere } from './test-tally.ts'

const LOWER_PRIORITY = 5
const TELL_MS = 60_000
// Longer than any of them says nothing.
const SILENT_MS = 600_000 * patience
const TICKS_PER_SECOND = 100

const command: TestCommand = process.argv[2] === 'test:rest' ? 'test:rest' : 'test'
const parts = testParts.filter((part) => part.command === command)
const started = Date.now()
const reports = mkdtempSync(join(tmpdir(), 'geoswap-tests-'))
// The last lines list these, where people look, and where a truncated log still has them.
const ended = new Map<string, Ended>()
const troubles: string[] = []
const suspects: { part: TestPart; files: string[]; ran: Ran }[] = []
const running = new Map<string, Running>()
const usedBy = new Map<string, number>()
let usedBefore = 0

type Running = { child: ChildProcess; output: string; since: number; saidAt: number }

const say = (line: string) => void process.stdout.write(`${line}\n`)
const secondsSince = (time: number) => Math.round((Date.now() - time) / 1_000)

/** Runs all parts, each beside those that the table allows. A failed one does not keep the next from running. */
async function runAll(): Promise<void> {
  const waiting = [...parts]
  const runs = new Map<TestPart, Promise<unknown>>()
  while (waiting.length + runs.size > 0) {
    for (const part of startable(waiting, [...runs.keys()])) {
      waiting.splice(waiting.indexOf(part), 1)
      runs.set(
        part,
        runPart(part).finally(() => runs.delete(part)),
      )
    }
    await Promise.race(runs.values())
  }
  for (const suspect of suspects) await runAgain(suspect)
}

async function runPart(part: TestPart): Promise<void> {
  if (part.name === 'browser' && !(await ensureChromium(say))) return leaveBrowser()
  say(`${part.name}: started`)
  const ran = await run(part)
  const files = ran.isGreen || part.isAlone ? [] : failedFilesOf(ran)
  if (files.length === 0) return finish(part, [ran])
  say(`${part.name}: to run once more: ${files.join(' ')}`)
  suspects.push({ part, files, ran })
}

function leaveBrowser(): void {
  const left = `no Chromium: install one, or name it: CHROMIUM=/path/to/chromium npm run ${command}`
  ended.set('browser', { name: 'browser', passed: 0, failed: 0, flaky: [], seconds: 0, left })
  say(`browser: LEFT OUT, ${left}`)
}

/**
 * Test files share a network or the processors, so a file can fail because of others. One that passes alone does not
 * fail the run, but is named.
 */
async function runAgain({ part, files, ran }: (typeof suspects)[number]): Promise<void> {
  say(`${part.name}: once more ${files.join(' ')}`)
  finish(part, [ran, await run(part, files)])
}

function finish({ name }: TestPart, runs: readonly Ran[]): void {
  const judged = judge(runs)
  const isGreen = judged.failed === 0
  const seconds = secondsSince(started)
  const used = Math.round(usedBy.get(name) ?? 0)
  const told = `${name}: ${isGreen ? 'passed' : 'FAILED'} ${seconds} s after the start; ${used} s of processor time`
  const output = runs.map((ran) => ran.output).join(`\n${name}: the second time\n`)
  ended.set(name, { name, ...judged, seconds })
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

function commandOf({ name }: TestPart, report: string, files: readonly string[]): [string, string[]] {
  if (name === 'check') return ['npm', ['run', '-s', 'check']]
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--project', name]
  return [process.execPath, [...vitest, ...reporters, ...files]]
}

/** The output is kept until the end, since interleaved output is unreadable. */
function run(part: TestPart, files: readonly string[] = []): Promise<Ran> {
  const { name } = part
  const file = join(reports, `${name}.json`)
  rmSync(file, { force: true })
  const child = spawn(...commandOf(part, file, files), { stdio: ['ignore', 'pipe', 'pipe'] })
  if (child.pid !== undefined && part.isPatient) setPriority(child.pid, LOWER_PRIORITY)
  const here: Running = { child, output: '', since: Date.now(), saidAt: Date.now() }
  running.set(name, here)
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      here.output += text
      here.saidAt = Date.now()
    })
  }
  child.on('exit', () => noteUsed(name))
  return new Promise((resolve) =>
    child.on('close', (code) => {
      running.delete(name)
      const report = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
      resolve({ isGreen: code === 0, output: here.output, report, hasReport: name !== 'check' })
    }),
  )
}

/** So that nobody waits without a word. A part that has said nothing for long is ended, as failed. */
function tell(): void {
  for (const [name, here] of running) {
    say(`${name}: runs since ${secondsSince(here.since)} s: ${here.output.trimEnd().split('\n').at(-1)}`)
    if (Date.now() - here.saidAt < SILENT_MS) continue
    here.output += `\n${name} said nothing for ${SILENT_MS / 1_000} s`
    here.child.kill()
  }
}

/** Attributes the processor time of all children that ended since the last call to this part. Linux only. */
function noteUsed(name: string): void {
  if (process.platform !== 'linux') return
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? []
  const used = (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND
  usedBy.set(name, (usedBy.get(name) ?? 0) + used - usedBefore)
  usedBefore = used
}

/** All parts, also those that have not ended, if the run was interrupted. */
function close(): void {
  const left = 'the run was interrupted'
  for (const { name } of parts)
    if (!ended.has(name)) ended.set(name, { name, passed: 0, failed: 0, flaky: [], seconds: 0, left })
  rmSync(reports, { recursive: true })
  const lines = summarize([...ended.values()], toldElsewhere(testParts, command))
  for (const line of [...troubles, '', ...lines]) say(line)
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
say(`runs ${parts.map(({ name }) => name).join(', ')}`)
for (const line of toldElsewhere(testParts, command)) say(line)
const telling = setInterval(tell, TELL_MS)
await runAll()
clearInterval(telling)
close()
process.exitCode = [...ended.values()].some(({ failed }) => failed > 0) ? 1 : 0
