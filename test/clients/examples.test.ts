import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createOpenApi } from '@geoswap/wire'
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

const PYTHON = 'examples/first_swap.py'
const hasPython = spawnSync('python3', ['--version']).status === 0
const hasLibrary = hasPython && spawnSync('python3', ['-c', 'import eth_account']).status === 0

test.runIf(hasPython)('the example in Python settles', async () => {
  // Signed by a stand-in with the calls of eth-account where that library is not installed.
  const path = hasLibrary ? {} : { PYTHONPATH: 'test/clients/python', PYTHONDONTWRITEBYTECODE: '1' }

  expect(await run('python3', [PYTHON], path)).toMatchObject({ status: 'settled' })
})

test('the example in Python makes calls of the OpenAPI document alone', async () => {
  const text = await readFile(PYTHON, 'utf8')
  const known = Object.keys(createOpenApi({ serverUrl: '/' }).paths as object)

  const called = [...text.matchAll(/call\(\s*f?"([^"?]+)/g)].map(([, path = '']) =>
    path.replace('{swap_id}', '{swapId}'),
  )

  expect(new Set(called).size).toBe(5)
  expect(called.filter((path) => !known.includes(path))).toEqual([])
})
