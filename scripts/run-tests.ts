import { spawn } from 'node:child_process'
import { ensureChromium } from './chromium.ts'

// Most of them wait for blocks most of the time, so some run beside each other; more at once would only be in each
// other's way. The longest begin; `npm run check` fills the time in which only one is left.
const TOGETHER = ['e2e', 'unit', 'faults', 'browser', 'clients', 'shape', 'check']
const AT_ONCE = 3
// Its time is part of what it shows: it has the machine for itself.
const ALONE = 'gate'

const started = Date.now()
// What went wrong comes last: that is where one looks, and what a log that was cut still has.
const failed: string[] = []
const say = (line: string) => void process.stdout.write(`${line}\n`)

/** Runs the projects of the list until it is empty or one of them has failed. */
async function runNext(projects: string[]): Promise<void> {
  for (let next = projects.shift(); next && failed.length === 0; next = projects.shift())
    await runProject(next)
}

async function runProject(project: string): Promise<void> {
  if (project === 'browser' && !(await ensureChromium(say))) {
    say(
      'browser: LEFT OUT, there is no Chromium. Install one, or name it: CHROMIUM=/path/to/chromium npm test',
    )
    return
  }
  say(`${project}: started`)
  const { isGreen, output } = await runTests(project)
  const told = `${project}: ${isGreen ? 'passed' : 'FAILED'} after ${Math.round((Date.now() - started) / 1_000)} s`
  if (isGreen) say(`${output}\n${told}`)
  else {
    say(told)
    failed.push(`${output}\n${told}`)
  }
}

/** The output is kept until the end: several at once could not be read. */
function runTests(project: string): Promise<{ isGreen: boolean; output: string }> {
  const [command, ...args] =
    project === 'check'
      ? ['npm', 'run', '-s', 'check']
      : [process.execPath, 'node_modules/vitest/vitest.mjs', 'run', '--project', project]
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  return new Promise((resolve) => child.on('close', (code) => resolve({ isGreen: code === 0, output })))
}

await Promise.all(Array.from({ length: AT_ONCE }, () => runNext(TOGETHER)))
if (failed.length === 0) await runProject(ALONE)
for (const report of failed) say(report)
process.exitCode = failed.length === 0 ? 0 : 1
