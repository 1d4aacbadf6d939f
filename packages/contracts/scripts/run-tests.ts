import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Contracts } from './compile.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const folder = fileURLToPath(new URL('../cache/', import.meta.url))

/**
 * Runs tests against other contracts than the committed ones. If the first failure is enough, it stops there and
 * leaves out random sequences.
 */
export async function runTests(
  contracts: Contracts,
  files: readonly string[],
  { isFirstEnough = false } = {},
): Promise<{ isGreen: boolean; output: string }> {
  mkdirSync(folder, { recursive: true })
  const file = `${folder}under-test.${process.pid}.json`
  writeFileSync(file, JSON.stringify(contracts))
  const fixed = ['vitest', 'run', '--project', 'unit', '--project', 'searches', '--exclude', '**/gas.test.ts']
  const quick = ['--exclude', '**/fuzz.test.ts', '--bail', '1']
  const args = [...fixed, ...(isFirstEnough ? quick : []), ...files]
  const child = spawn('npx', args, { cwd: root, env: { ...process.env, CONTRACTS_FILE: file } })
  let output = ''
  child.stdout.on('data', (data) => {
    output += data
  })
  child.stderr.on('data', (data) => {
    output += data
  })
  const code = await new Promise((resolve) => child.on('close', resolve))
  return { isGreen: code === 0, output }
}
