import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, inject, test } from 'vitest'

const run = promisify(execFile)
const local = inject('local')
// Inside the project, so that the generated client finds its packages.
await mkdir('.tmp', { recursive: true })
const folder = await mkdtemp(join('.tmp', 'openapi-'))
afterAll(() => rm(folder, { recursive: true }))

test('the client that openapi-typescript generates type-checks with chainId: 31337, and swaps', async () => {
  const types = join(folder, 'geoswap-api.d.ts')
  const program = join(folder, 'openapi-swap.ts')
  const file = join(folder, 'local.json')
  await copyFile('examples/openapi-swap.ts', program)
  await writeFile(file, JSON.stringify(local))

  const generator = 'packages/wire/node_modules/.bin/openapi-typescript'
  await run(generator, [`${local.apiUrl}/openapi.json`, '-o', types])
  const strict = ['--strict', '--noEmit', '--skipLibCheck', '--types', 'node']
  const modern = ['--target', 'es2023', '--module', 'nodenext', '--exactOptionalPropertyTypes']
  await run('node_modules/.bin/tsc', ['--ignoreConfig', ...strict, ...modern, program])
  const { stdout } = await run(process.execPath, ['--import', 'tsx', program, file])

  expect(JSON.parse(stdout)).toMatchObject({ status: 'settled', originChain: 31337 })
})
