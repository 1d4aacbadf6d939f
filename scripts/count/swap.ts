import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { type Network, startNetwork } from '@geoswap/devnet'
import { Client } from 'pg'
import { ROOT } from '../sources.ts'
import type { Figures } from './figures.ts'

const BUNDLE = join(ROOT, 'packages/service/dist/service.mjs')
const PROCESSES = ['api', 'worker', 'attester']
// Their repeated tasks run in it.
const IDLE_MS = 30_000
const REPORT_MS = 60_000

type Covered = {
  result: {
    url: string
    functions: { ranges: { startOffset: number; endOffset: number; count: number }[] }[]
  }[]
}

/**
 * Files with a function that ran in API, worker or attester while one EVM swap went from its quote to `closed`. Loading
 * a file is not a visit. Much runs at any time, such as following heads: the second pair leaves out the files that also
 * ran while there was no swap.
 */
export async function countSwap(): Promise<Figures> {
  const dir = mkdtempSync(join(tmpdir(), 'geoswap-count-'))
  const onSignal = pathToFileURL(join(ROOT, 'scripts/count/coverage-on-signal.mjs')).href
  const env = { NODE_V8_COVERAGE: dir, NODE_OPTIONS: `--import ${onSignal}` }
  const network = await startNetwork({ env })
  try {
    await takeCoverage(network, dir)
    await delay(IDLE_MS)
    const idle = new Set((await takeCoverage(network, dir)).flatMap(filesThatRan))
    execFileSync(process.execPath, ['examples/first-swap.mjs', join(network.home, 'local.json')], {
      cwd: ROOT,
    })
    await waitUntilClosed(network.databaseUrl)
    const visited = [...new Set((await takeCoverage(network, dir)).flatMap(filesThatRan))]
    const own = visited.filter((file) => !idle.has(file))
    return {
      'files that ran during one EVM swap': visited.length,
      'lines of the files that ran during one EVM swap': linesOf(visited),
      'files that ran only for one EVM swap': own.length,
      'lines of the files that ran only for one EVM swap': linesOf(own),
    }
  } finally {
    await network.stop()
    rmSync(dir, { recursive: true })
  }
}

const linesOf = (files: readonly string[]) =>
  files
    .map((file) => readFileSync(join(ROOT, file), 'utf8').split('\n').length - 1)
    .reduce((total, each) => total + each, 0)

/** The report of each process since its last one. */
async function takeCoverage({ pids }: Network, dir: string): Promise<Covered[]> {
  const ours = PROCESSES.flatMap((role) => pids[role] ?? [])
  const before = new Set(readdirSync(dir))
  for (const pid of ours) process.kill(pid, 'SIGUSR2')
  const reports: Covered[] = []
  for (const pid of ours) reports.push(await readReport(dir, pid, before))
  return reports
}

async function readReport(dir: string, pid: number, before: ReadonlySet<string>): Promise<Covered> {
  const isOurs = (name: string) => name.startsWith(`coverage-${pid}-`) && !before.has(name)
  const ends = Date.now() + REPORT_MS
  while (Date.now() < ends) {
    const name = readdirSync(dir).find(isOurs)
    const text = name === undefined ? '' : readFileSync(join(dir, name), 'utf8')
    if (text.endsWith('}')) return JSON.parse(text)
    await delay(100)
  }
  throw new Error(`Process ${pid} did not report what it ran`)
}

async function waitUntilClosed(databaseUrl: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  const open = async () => (await client.query("select from swaps where state <> 'closed'")).rowCount
  while (await open()) await delay(200)
  await client.end()
}

/** The bundler writes the path of each source above its part of the bundle. */
function filesThatRan({ result }: Covered): string[] {
  const url = pathToFileURL(BUNDLE).href
  const text = readFileSync(BUNDLE, 'utf8')
  const sources = [...text.matchAll(/^\/\/ (packages\/\S+|node_modules\/\S+)$/gm)].map((match) => ({
    path: match[1] ?? '',
    start: match.index,
  }))
  const script = result.find((each) => each.url === url)
  const ran = (script?.functions ?? [])
    .map(({ ranges }) => ranges[0])
    .filter((range) => (range?.count ?? 0) > 0)
  return ran
    .flatMap((range) => {
      const start = range?.startOffset ?? 0
      return start === 0 ? [] : (sources.findLast((source) => source.start < start)?.path ?? [])
    })
    .filter((path) => path.startsWith('packages/'))
}
