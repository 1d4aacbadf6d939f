import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { privateKeyToAccount } from 'viem/accounts'
import { type Order, toRequest } from '../world.ts'
import type { BareFunctions } from './bare-server.ts'
import { atLeast, below, type Figure } from './figures.ts'
import { cpuSeconds } from './machine.ts'
import type { Bench } from './network.ts'
import type { PacedFunctions } from './paced.ts'
import { type Remote, startRemote } from './remote.ts'
import { median, ms, perSecond } from './statistics.ts'
import { settleTogether, storePending } from './stored-swaps.ts'
import { orderOf } from './traders.ts'

const CONNECTIONS = 32
const WARM_UP_SECONDS = 2
const ROUND_SECONDS = 3
const ROUNDS = 4
const HALF_LOAD_SECONDS = 10
const autocannon = fileURLToPath(new URL('../../node_modules/autocannon/autocannon.js', import.meta.url))

const WARM = 'Warm quotes, 3 chains, 2 venues, 12 assets'

type Target = { url: string; pid: number; apiKey: string; body?: string }
/** `p99`: in milliseconds, at half of the measured rate. */
type Case = { name: string; path: string; goal: number; body?: string; p99?: number }
type Pair = { ours: Target; bare: Target }
type Round = { rate: number; cpuMicros: number }

/** Calls per second, compared with a Fastify route that does nothing. */
export async function measureThroughput(bench: Bench): Promise<Figure[]> {
  const bare = startRemote<BareFunctions>('./bare-server.ts')
  try {
    const port = await bare.call('listen')
    const figures: Figure[] = []
    for (const one of await casesOf(bench)) figures.push(...(await compare(bench, bare, port, one)))
    return figures
  } finally {
    bare.stop()
  }
}

async function casesOf(bench: Bench): Promise<Case[]> {
  const wallet = privateKeyToAccount(`0x${'11'.repeat(32)}`)
  const { apiKey } = bench.world.local
  const [settled = '', pending = ''] = await storePending(bench, apiKey, 2)
  await settleTogether(bench, [settled])
  const warm = orderOf(bench)
  const bodyOf = (order: Order) => JSON.stringify(toRequest(wallet, order))
  const quotes = { path: '/swap/quote', goal: 0.4, body: bodyOf({ ...warm, buy: 'USDC' }) }
  return [
    { name: 'Quotes', ...quotes },
    // Vault and pool both sell WETH and are both asked for each quote.
    { ...quotes, name: WARM, goal: 0.35, body: bodyOf(warm), p99: 20 },
    { name: 'Status reads, settled', path: `/swap/status/${settled}?wait=0`, goal: 0.25 },
    { name: 'Status reads, pending', path: `/swap/status/${pending}?wait=0`, goal: 0.25 },
  ]
}

async function compare(
  { world, service, say }: Bench,
  bare: Remote<BareFunctions>,
  port: number,
  one: Case,
): Promise<Figure[]> {
  const { name, path, goal, body } = one
  const { apiUrl, apiKey } = world.local
  const sent = body === undefined ? {} : { body }
  const ours: Target = { url: `${apiUrl}${path}`, pid: service.pids.api, apiKey, ...sent }
  const bareUrl = `http://127.0.0.1:${port}/bare${body === undefined ? '/swap' : ''}`
  const theirs: Target = { url: bareUrl, pid: bare.pid, apiKey, ...sent }
  await bare.call('setReply', await sampleReply(ours))
  for (const target of [theirs, ours]) await load(target, WARM_UP_SECONDS)
  const rounds: { bare: Round; ours: Round }[] = []
  for (let count = 0; count < ROUNDS; count += 1) {
    const round = { bare: await load(theirs, ROUND_SECONDS), ours: await load(ours, ROUND_SECONDS) }
    say(`${name}: ${describe(round.ours)}, bare ${describe(round.bare)}`)
    rounds.push(round)
  }
  const measured = middle(rounds.map((round) => round.ours))
  const share = atLeast(`${name}, against a bare route`, {
    share: median(rounds.map((round) => round.ours.rate / round.bare.rate)),
    goal,
    measured: describe(measured),
    baseline: describe(middle(rounds.map((round) => round.bare))),
  })
  return [share, ...(await measureHalfLoad({ ours, bare: theirs }, one, measured.rate))]
}

/** The p99 at half load. */
async function measureHalfLoad({ ours, bare }: Pair, { p99: limit }: Case, most: number): Promise<Figure[]> {
  if (limit === undefined) return []
  const half = { seconds: HALF_LOAD_SECONDS, rate: Math.round(most / 2) }
  const paced = startRemote<PacedFunctions>('./paced.ts')
  try {
    const measure = ({ url, apiKey, body = '' }: Target) =>
      paced.call('measurePercentile', { url, apiKey, body, part: 0.99, ...half })
    const baseline = `bare ${ms(await measure(bare))}`
    const value = await measure(ours)
    return [below(`· p99 at ${perSecond(half.rate)}, half of that`, { value, limit, baseline })]
  } finally {
    paced.stop()
  }
}

async function sampleReply({ url, apiKey, body }: Target): Promise<string> {
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' }
  const response = await fetch(url, { method: body ? 'POST' : 'GET', headers, ...(body && { body }) })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${url}: ${response.status} ${text}`)
  return text
}

type Result = {
  requests: { total: number }
  duration: number
  errors: number
  non2xx: number
}

async function load(target: Target, seconds: number): Promise<Round> {
  const before = cpuSeconds(target.pid)
  const { requests, duration, errors, non2xx } = await fire(target, { seconds })
  if (errors + non2xx > 0) throw new Error(`${target.url}: ${non2xx} calls were refused`)
  const cpuMicros = ((cpuSeconds(target.pid) - before) * 1e6) / requests.total
  return { rate: requests.total / duration, cpuMicros }
}

/** As fast as the answers come. The caller judges refusals. */
export async function fire(
  { url, apiKey, body }: Omit<Target, 'pid'>,
  { seconds }: { seconds: number },
): Promise<Result> {
  const sending = body ? ['-m', 'POST', '-H', 'content-type: application/json', '-b', body] : []
  const settings = ['-j', '-c', String(CONNECTIONS), '-d', String(seconds), '-H', `x-api-key: ${apiKey}`]
  const command = [autocannon, ...settings, ...sending, url]
  const { stdout } = await promisify(execFile)(process.execPath, command)
  return JSON.parse(stdout)
}

function middle(rounds: readonly Round[]): Round {
  return {
    rate: median(rounds.map((round) => round.rate)),
    cpuMicros: median(rounds.map((round) => round.cpuMicros)),
  }
}

const describe = ({ rate, cpuMicros }: Round) => `${perSecond(rate)} at ${Math.round(cpuMicros)} µs CPU`
