import { execFile } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { afterAll, expect, inject, test } from 'vitest'
import { createCli } from '../cli.ts'

const run = promisify(execFile)
const { env, remove } = createCli(inject('local'))
afterAll(() => remove())

/** The code blocks of the page, verbatim. */
async function blocksOf(language: string): Promise<string[]> {
  const page = await readFile('docs/quickstart.md', 'utf8')
  return [...page.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(
    ([, code]) => code ?? '',
  )
}

// Two swaps in seven processes, one after the other.
const TIMEOUT_MS = 120_000

test(
  'the quickstart works in the shell',
  async () => {
    const script = (await blocksOf('sh')).join('\n')

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

test('the quickstart works in JavaScript', async () => {
  const [program = ''] = await blocksOf('js')
  await mkdir('.tmp', { recursive: true })
  await writeFile('.tmp/quickstart.mjs', program)

  const { stdout } = await run(process.execPath, ['--import', 'tsx', '.tmp/quickstart.mjs'], { env })
  await rm('.tmp/quickstart.mjs')

  expect(stdout).toMatch(/^settled 99\d+\n$/)
})
