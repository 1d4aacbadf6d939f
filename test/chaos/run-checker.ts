import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const checker = fileURLToPath(new URL('./checker/main.ts', import.meta.url))

export type Verdict = { violations: { invariant: string; what: string }[]; missing: string[] }

/** Runs the checker, a separate program, on a run at rest. */
export async function runChecker({ dir, quiet }: { dir: string; quiet: boolean }): Promise<Verdict> {
  const stdio = quiet ? 'ignore' : 'inherit'
  const child = spawn(process.execPath, ['--import', 'tsx', checker, dir], {
    stdio: ['ignore', stdio, 'inherit'],
  })
  const code = await new Promise((resolve) => child.once('exit', resolve))
  if (code !== 0 && code !== 1) throw new Error(`The checker ended with ${code}`)
  return JSON.parse(readFileSync(join(dir, 'verdict.json'), 'utf8'))
}
