import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { afterAll, expect, inject, test } from 'vitest'
import { createCliHome } from '../cli.ts'

const run = promisify(execFile)
const { env, remove } = createCliHome(inject('local'))
afterAll(() => remove())

/** The shell commands of the page, verbatim. */
async function readCommands(): Promise<string> {
  const page = await readFile('docs/quickstart.md', 'utf8')
  return [...page.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, code]) => code ?? '').join('\n')
}

// Two swaps in seven processes, one after the other.
const TIMEOUT_MS = 120_000

test(
  'the quickstart works in the shell',
  async () => {
    const script = await readCommands()

    // The command behind npx, without a second of npm before each call.
    const PATH = `${process.cwd()}/node_modules/.bin:${env.PATH}`
    const { stdout } = await run('bash', ['-euc', `npx() { "$@"; }\n${script}`], { env: { ...env, PATH } })

    const settled = stdout.match(/^status +settled$/gm)
    expect(settled).toHaveLength(script.match(/geoswap swap /g)?.length ?? -1)
    expect(stdout).toMatch(/^solana:SOL +0\.1\d+ +\w{32,44}$/m)
    expect(stdout).toContain('"output":"5000000000000000"')
  },
  TIMEOUT_MS,
)
