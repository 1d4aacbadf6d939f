import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildPackage } from '../scripts/build.ts'

const run = promisify(execFile)
const modules = fileURLToPath(new URL('../../../node_modules', import.meta.url))
let application: string

/** An application with only the built package and its peer dependencies. */
beforeAll(async () => {
  application = await mkdtemp(join(tmpdir(), 'geoswap-sdk-'))
  const installed = join(application, 'node_modules')
  await buildPackage(join(installed, '@geoswap/sdk'))
  const manifest = JSON.parse(await readFile(join(installed, '@geoswap/sdk/package.json'), 'utf8'))
  const wanted = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
  for (const name of [...wanted, '@types/node']) {
    await mkdir(dirname(join(installed, name)), { recursive: true })
    await symlink(resolve(modules, name), join(installed, name))
  }
  await writeFile(join(application, 'package.json'), '{ "type": "module" }')
})
afterAll(() => rm(application, { recursive: true }))

test('the built package runs in plain Node', async () => {
  await writeFile(
    join(application, 'main.js'),
    `import { createClient, GeoswapError } from '@geoswap/sdk'
     const client = createClient({ baseUrl: 'http://127.0.0.1:1', apiKey: 'key', retry: { forMs: 0 } })
     const error = await client.chains().catch((reason) => reason)
     console.log(error instanceof GeoswapError, error.code)`,
  )

  const { stdout } = await run(process.execPath, ['main.js'], { cwd: application })

  expect(stdout.trim()).toBe('true CONNECTION_FAILED')
})

test('the built package contains every type it refers to', async () => {
  const types = join(application, 'node_modules/@geoswap/sdk/types')
  const files = (await readdir(types, { recursive: true })).filter((file) => file.endsWith('.d.ts'))
  const named = await Promise.all(
    files.map(async (file) => {
      const imports = (await readFile(join(types, file), 'utf8')).matchAll(/from ['"](\.[^'"]+)\.js['"]/g)
      return [...imports].map(([, path = '']) => join(types, dirname(file), `${path}.d.ts`))
    }),
  )

  expect(named.flat().length).toBeGreaterThan(files.length)
  expect(named.flat().filter((path) => !existsSync(path))).toEqual([])
})

test('the built package has types for requests, replies, results and codes', async () => {
  await writeFile(
    join(application, 'main.ts'),
    `import { createClient, fromViemAccount, GeoswapError } from '@geoswap/sdk'
     import { privateKeyToAccount } from 'viem/accounts'
     const client = createClient({ baseUrl: '', apiKey: '' })
     const signer = fromViemAccount(privateKeyToAccount('0x1'))
     const route = { originChain: 1, destinationChain: 2, inputToken: '', outputToken: '' }
     const swap = await client.swap({ ...route, amount: '1' }, signer)
     export const status: 'settled' | 'failed' | 'refunded' = swap.status
     export const isGone = (error: GeoswapError) => error.code === 'QUOTE_EXPIRED'
     // @ts-expect-error: there is no such code
     export const isOdd = (error: GeoswapError) => error.code === 'NO_SUCH_CODE'
     // @ts-expect-error: amounts are text
     client.quote({ ...route, amount: 1, walletAddress: '' })`,
  )
  const strict = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2022', '--skipLibCheck']

  const tsc = join(modules, 'typescript/bin/tsc')
  const checked = run(process.execPath, [tsc, ...strict, '--types', 'node', 'main.ts'], { cwd: application })

  await expect(checked).resolves.toMatchObject({ stdout: '' })
})
