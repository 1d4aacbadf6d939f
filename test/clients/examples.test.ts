import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, inject, test } from 'vitest'

const examples = ['first-swap', 'solana-swap']

/** Runs an example beside the network of the tests. */
async function run(command: string, args: readonly string[], env = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'geoswap-example-'))
  const file = join(folder, 'local.json')
  await writeFile(file, JSON.stringify(inject('local')))
  const { stdout } = await promisify(execFile)(command, [...args, file], { env: { ...process.env, ...env } })
  await rm(folder, { recursive: true })
  return JSON.parse(stdout)
}

test.each(examples)('the example %s settles', async (name) => {
  expect(await run(process.execPath, [`examples/${name}.mjs`])).toMatchObject({ status: 'settled' })
})

test('a wallet that signs typed data alone swaps by the SDK', async () => {
  const swap = await run(process.execPath, ['--import', 'tsx', 'examples/typed-data.mjs'])

  expect(swap).toMatchObject({ status: 'settled', method: 'authorization' })
})

const PYTHON = 'examples/python/three_ways.py'
const hasPython = spawnSync('python3', ['-c', 'import sys; assert sys.version_info >= (3, 11)']).status === 0

test.runIf(hasPython)('the generated client in Python swaps by each of three ways of signing', async () => {
  const swaps = await run('python3', [PYTHON], { PYTHONDONTWRITEBYTECODE: '1' })

  expect(swaps).toMatchObject([
    { status: 'settled', method: 'delegation' },
    { status: 'settled', method: 'authorization' },
    { status: 'settled', originChain: 31_339 },
  ])
})

test('the three ways of signing in Python take a caller 60 lines', async () => {
  expect((await readFile(PYTHON, 'utf8')).trim().split('\n').length).toBeLessThanOrEqual(60)
})
