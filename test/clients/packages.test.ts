import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { createCliHome } from '../cli.ts'
import { patience } from '../patience.ts'

const exec = promisify(execFile)
const cli = createCliHome(inject('local'))
const { env } = cli
const PACKAGES = ['sdk', 'cli', 'mcp', 'agent']
// The packages bundle everything but viem, which an application brings.
const INSTALL = ['install', '--offline', '--no-audit', '--no-fund', '--legacy-peer-deps']
const PEERS = ['viem', '@types/node']
const MINUTE_MS = 60_000

let folder: string
let tarballs: string[]

/** Runs a program in a folder outside the clone. */
const runIn = (cwd: string, file: string, ...args: string[]) => exec(file, args, { cwd, env })
const run = (file: string, ...args: string[]) => runIn(join(folder, 'application'), file, ...args)
const createFolder = async (name: string) => {
  await mkdir(join(folder, name))
  await writeFile(join(folder, name, 'package.json'), '{ "private": true }')
  return join(folder, name)
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'geoswap-packages-'))
  tarballs = await packCopy(join(folder, 'tarballs'))
  const application = await createFolder('application')
  await runIn(application, 'npm', ...INSTALL, ...tarballs)
  for (const name of PEERS) {
    await mkdir(dirname(join(application, 'node_modules', name)), { recursive: true })
    await symlink(resolve('node_modules', name), join(application, 'node_modules', name))
  }
})
afterAll(async () => {
  cli.remove()
  await rm(folder, { recursive: true })
})

/** Packs a copy, because npm exchanges manifests while it packs, and other tests read those of this clone. */
async function packCopy(to: string): Promise<string[]> {
  const copy = await mkdtemp(join(tmpdir(), 'geoswap-clone-'))
  const filter = (path: string) => !/\/(node_modules|dist)$/.test(path)
  const wanted = [
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'LICENSE',
    'scripts',
    ...PACKAGES.map((name) => `packages/${name}`),
  ]
  for (const path of wanted) await cp(path, join(copy, path), { recursive: true, filter })
  await symlink(resolve('node_modules'), join(copy, 'node_modules'))
  await mkdir(to)
  const packed = PACKAGES.map(async (name) => {
    const args = ['pack', '--json', '--pack-destination', to]
    await exec('npm', args, { cwd: join(copy, 'packages', name), env })
  })
  await Promise.all(packed)
  await rm(copy, { recursive: true })
  return (await readdir(to)).map((file) => join(to, file))
}

const readPackage = async (name: string) => {
  const path = join(folder, 'application/node_modules/@geoswap', name)
  const read = (file: string) => readFile(join(path, file), 'utf8')
  const files = (await readdir(path, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(path.length + 1))
  return { files, manifest: JSON.parse(await read('package.json')), readme: await read('README.md') }
}

test('an empty folder has its first settled swap by npx geoswap within a minute', async () => {
  const [tarball = ''] = tarballs.filter((path) => path.includes('-cli-'))
  const empty = await createFolder('empty')
  const swap = ['swap', 'alpha:USDC', 'beta:USDC', '--amount', '10']
  const started = Date.now()

  await runIn(empty, 'npm', ...INSTALL, tarball)
  const { stdout, stderr } = await runIn(empty, 'npx', 'geoswap', ...swap)

  expect(Date.now() - started).toBeLessThan(MINUTE_MS * patience)
  expect(stdout).toMatch(/^status +settled$/m)
  expect(stderr).toMatch(/^10 USDC on alpha is locked at the escrow of alpha in tx 0x\w{64}$/m)
  expect(stderr).toMatch(/USDC on beta was delivered to 0x\w{40} in tx 0x\w{64}/)
})

test('the packages have no dependency to fetch, no sources, and links that lead into the repository', async () => {
  const [sdk, program, server, agent] = await Promise.all(PACKAGES.map(readPackage))

  for (const { files, manifest, readme } of [sdk, program, server, agent].filter(
    (each) => each !== undefined,
  )) {
    const { repository } = manifest
    expect(Object.keys(manifest)).not.toContain('dependencies')
    expect(JSON.stringify(manifest)).not.toMatch(/tsx|private|prepack|@geoswap\/(wire|protocol|wallet)/)
    expect(files.filter((file) => !/^(dist\/|package\.json$|README\.md$|LICENSE$)/.test(file))).toEqual([])
    expect(files.filter((file) => /(?<!\.d)\.ts$|\.test\./.test(file))).toEqual([])
    const base = `${repository.url.replace(/^git\+|\.git$/g, '')}/blob/main/`
    const links = [...readme.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link)
    const own = links.filter((link) => link.startsWith(base)).map((link) => link.slice(base.length))
    expect(links.filter((link) => !/^(https:|#)/.test(link))).toEqual([])
    for (const link of own) await readFile(link.replace(/#.*/, ''), 'utf8')
    expect(repository.directory).toMatch(/^packages\//)
  }
  expect(program?.files).toContain('dist/licenses.txt')
})

const PROGRAM = `
  import { createClient, fromViemAccount, type GeoswapError } from '@geoswap/sdk'
  import { payX402, type X402Options } from '@geoswap/sdk/x402'
  const client = createClient({ baseUrl: '', apiKey: '' })
  declare const account: Parameters<typeof fromViemAccount>[0]
  const signer = fromViemAccount(account)
  const route = { originChain: 1, destinationChain: 2, inputToken: '', outputToken: '' }
  export const ended: Promise<'settled' | 'failed' | 'refunded'> = client
    .swap({ ...route, amount: '1' }, signer)
    .then((swap) => swap.status)
  declare const options: X402Options
  export const paid: Promise<number> = payX402(client, '', options).then((answer) => answer.status)
  export const isGone = (error: GeoswapError) => error.code === 'QUOTE_EXPIRED'
  // @ts-expect-error: there is no such code
  export const isOdd = (error: GeoswapError) => error.code === 'NO_SUCH_CODE'
  // @ts-expect-error: amounts are text
  client.quote({ ...route, amount: 1, walletAddress: '' })`

test.each([
  ['node16', 'node16', ['main.mts', 'main.cts']],
  ['nodenext', 'nodenext', ['main.mts', 'main.cts']],
  ['bundler', 'esnext', ['main.mts']],
])('the SDK has types with %s', async (moduleResolution, module, files) => {
  for (const file of files) await writeFile(join(folder, 'application', file), PROGRAM)
  const tsc = resolve('node_modules/typescript/bin/tsc')
  const options = ['--strict', '--noEmit', '--target', 'es2022', '--skipLibCheck', '--types', 'node']

  const way = ['--module', module, '--moduleResolution', moduleResolution]
  const checked = run(process.execPath, tsc, ...options, ...way, ...files)

  await expect(checked).resolves.toMatchObject({ stdout: '' })
})

test('the SDK swaps by import, and by require', async () => {
  const example = await readFile('examples/sdk-swap.mjs', 'utf8')
  await writeFile(join(folder, 'application/swap.mjs'), example)
  const required = example
    .replaceAll(/^import (.+) from '([^']+)'$/gm, "const $1 = require('$2')")
    .replace(/^const account[\s\S]*$/m, (body) => `;(async () => {${body}})()`)
  await writeFile(join(folder, 'application/swap.cjs'), required)
  const network = join(env.GEOSWAP_HOME, 'local.json')

  const swaps = await Promise.all(
    ['swap.mjs', 'swap.cjs'].map((file) => run(process.execPath, file, network)),
  )

  for (const { stdout } of swaps) expect(JSON.parse(stdout)).toMatchObject({ status: 'settled' })
})

test('the MCP server swaps for the official client', async () => {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(
    new StdioClientTransport({
      ...{
        command: join(folder, 'application/node_modules/.bin/geoswap-mcp'),
        args: ['--confirm-above-usd', '50'],
      },
      ...{ cwd: folder, env, stderr: 'ignore' },
    }),
  )

  const order = { from: 'alpha:USDC', to: 'beta:USDC', amount: '11' }
  const { structuredContent } = await client.callTool({ name: 'execute_swap', arguments: order })
  await client.close()

  expect(structuredContent).toMatchObject({ outcome: 'settled' })
})

const AGENT = `
  import { openAgent } from '@geoswap/agent'
  import { toAiTools } from '@geoswap/agent/ai'
  const limits = { confirmAboveUsd: '50' }
  const agent = await openAgent({ home: '.', networkHome: process.env.GEOSWAP_HOME, limits })
  const { execute_swap } = toAiTools(agent, { jsonSchema: (schema) => schema })
  const order = { from: 'alpha:USDC', to: 'beta:USDC', amount: '12' }
  console.log(JSON.stringify(await execute_swap.execute(order, {})))`

test('the tools of an agent swap without a framework, and have types', async () => {
  const home = await createFolder('application/agent')
  for (const file of ['swap.mts', 'swap.mjs']) await writeFile(join(home, file), AGENT)
  const tsc = resolve('node_modules/typescript/bin/tsc')
  const options = ['--strict', '--noEmit', '--target', 'es2022', '--module', 'nodenext', '--types', 'node']

  await runIn(home, process.execPath, tsc, ...options, 'swap.mts')
  const { stdout } = await runIn(home, process.execPath, 'swap.mjs')

  expect(JSON.parse(stdout)).toMatchObject({ outcome: 'settled' })
})

test('both programs tell their version, and geoswap completes itself', async () => {
  const bin = (name: string, ...args: string[]) =>
    run(join(folder, 'application/node_modules/.bin', name), ...args)
  const { version } = JSON.parse(await readFile('packages/cli/package.json', 'utf8'))

  const told = await Promise.all([
    bin('geoswap', '--version'),
    bin('geoswap-mcp', '--version'),
    bin('geoswap', 'completion', 'bash'),
  ])

  expect(told.map(({ stdout }) => stdout.split('\n')[0])).toEqual([
    `geoswap ${version}`,
    `geoswap ${version}`,
    '_geoswap() {',
  ])
})
