import { spawn } from 'node:child_process'
import { ensureChromium } from './chromium.ts'

// What mostly waits for blocks runs beside what mostly computes: one after the other would take half as long again.
const TRACKS = [['e2e'], ['unit', 'browser', 'faults']]

const started = Date.now()
const say = (line: string) => void process.stdout.write(`${line}\n`)

/** Runs the projects of a track one after the other and stops at the first that fails. */
async function runTrack(projects: readonly string[]): Promise<boolean> {
  for (const project of projects) {
    if (project === 'browser' && !(await ensureChromium(say))) {
      say(
        'browser: LEFT OUT, there is no Chromium. Install one, or name it: CHROMIUM=/path/to/chromium npm test',
      )
      continue
    }
    const { isGreen, output } = await runProject(project)
    const seconds = Math.round((Date.now() - started) / 1_000)
    say(`${output}\n${project}: ${isGreen ? 'passed' : 'FAILED'} after ${seconds} s`)
    if (!isGreen) return false
  }
  return true
}

/** The output is kept until the end: two at once could not be read. */
function runProject(project: string): Promise<{ isGreen: boolean; output: string }> {
  say(`${project}: started`)
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--project', project]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  return new Promise((resolve) => child.on('close', (code) => resolve({ isGreen: code === 0, output })))
}

const results = await Promise.all(TRACKS.map(runTrack))
process.exit(results.every(Boolean) ? 0 : 1)
