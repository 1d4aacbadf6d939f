import { type Network, startNetwork } from '@geoswap/devnet'
import { Pool } from 'pg'
import { privateKeyToAccount } from 'viem/accounts'
import { createWorld, type LocalNetwork, toRequest } from '../world.ts'
import { delay, now } from './clock.ts'
import type { Figure } from './figures.ts'
import type { Bench } from './network.ts'
import { createApiKey } from './service.ts'
import { withShares } from './shares.ts'
import { ms, perSecond } from './statistics.ts'
import { fire } from './throughput.ts'
import { createTraders, inGroups, orderOf, prepareSwaps, submitAndFollow, type Trading } from './traders.ts'
import { readUsage, type Usage, usedBetween } from './usage.ts'

const SECONDS = 5
// Each process compiles its hot code first.
const WARM_UP_SECONDS = 3
const WALLETS = 25
const SWAPS = 150
const IDLE_MS = 10_000
// Claims follow once the deliveries are final.
const CLAIMS_MS = 60_000
const PARTS = ['API', 'workers', 'attesters', 'PostgreSQL']

/**
 * The gain from more processes on this machine: each size on its own network, behind its own balancer. A size that
 * cannot go on is a figure too, and keeps what it has measured.
 */
export async function measureScale({ say }: Pick<Bench, 'say'>, sizes: readonly number[]): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const size of sizes) {
    say(`a network with ${size} of the API and ${size} of the worker`)
    await measureNetwork(size, say, figures).catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error)
      figures.push({ name: `${nameOf(size)}: stopped`, measured: why.split('\n')[0] ?? '', baseline: '' })
    })
  }
  return figures
}

const nameOf = (size: number) => `${size} API, ${size} workers`

async function measureNetwork(size: number, say: Bench['say'], figures: Figure[]): Promise<void> {
  const { PATH = '', HOME = '' } = process.env
  const network = await startNetwork({ api: size, workers: size, env: { PATH, HOME }, say: () => {} })
  const pool = new Pool({ connectionString: network.databaseUrl, max: 2 })
  try {
    const apiKey = await createApiKey(network, 'scale')
    const world = createWorld({ ...network.local, apiKey } as LocalNetwork)
    const sized = { network, pool, name: nameOf(size), trading: { world, say }, figures }
    await measureQuotes(sized, { apiKey, warmUpSeconds: WARM_UP_SECONDS * size })
    await measureSwaps(sized)
  } finally {
    await pool.end()
    await network.stop()
  }
}

type Sized = { network: Network; pool: Pool; name: string; trading: Trading; figures: Figure[] }
type Asking = { apiKey: string; warmUpSeconds: number }

async function measureQuotes({ network, name, trading, figures }: Sized, { apiKey, warmUpSeconds }: Asking) {
  const wallet = privateKeyToAccount(`0x${'11'.repeat(32)}`)
  const body = JSON.stringify(toRequest(wallet, orderOf(trading)))
  const target = { url: `${network.local.apiUrl}/swap/quote`, apiKey, body }
  await fire(target, { seconds: warmUpSeconds })
  const { result, shares } = await withShares(network.pids, () => fire(target, { seconds: SECONDS }))
  const { requests, duration, errors, non2xx } = result
  const answered = perSecond((requests.total - errors - non2xx) / duration)
  const refused = errors + non2xx > 0 ? `, ${errors + non2xx} refused` : ''
  figures.push({ name: `${name}: quotes`, measured: `${answered}${refused}`, baseline: shares })
}

async function measureSwaps(sized: Sized): Promise<void> {
  const { network, pool, name, trading, figures } = sized
  const prepared = await prepareSwaps(trading, await createTraders(trading, WALLETS), SWAPS)
  await untilClosed(pool)
  const atRest = await useFor(sized, () => delay(IDLE_MS))
  const swapping = await withShares(network.pids, () =>
    useFor(sized, async () => {
      const start = now()
      const ended = await inGroups(prepared, SWAPS, (one) => submitAndFollow(trading, one))
      const settled = ended.filter(({ status }) => status.status === 'settled').length
      return { settled, seconds: (now() - start) / 1_000 }
    }),
  )
  const { result, ...used } = swapping.result
  const lost = result.settled < SWAPS ? `, ${SWAPS - result.settled} not settled` : ''
  const rate = `${(result.settled / result.seconds).toFixed(1)}/s`
  figures.push({ name: `${name}: swaps settled`, measured: `${rate}${lost}`, baseline: swapping.shares })
  const cpu = PARTS.map((part) => `${part} ${ms((swapping.cpuMs.get(part) ?? Number.NaN) / SWAPS)}`)
  figures.push({ name: '· processor time per swap', measured: cpu.join(', '), baseline: '' })
  figures.push({
    name: '· per swap, until settled',
    measured: describe(used, SWAPS),
    baseline: `at rest, per second: ${describe(atRest, atRest.seconds)}`,
  })
}

async function useFor<T>({ network, pool }: Sized, work: () => Promise<T>): Promise<Usage & { result: T }> {
  const before = await readUsage(pool, network.local.metricsUrls)
  const result = await work()
  return { result, ...usedBetween(before, await readUsage(pool, network.local.metricsUrls)) }
}

const describe = ({ transactions, walBytes, calls }: Usage, by: number) =>
  [
    `${(transactions / by).toFixed(1)} transactions`,
    `${(walBytes / by / 1_024).toFixed(1)} KiB WAL`,
    `${(calls / by).toFixed(1)} calls`,
  ].join(', ')

/** Whether all inputs are claimed after this time. Claims of earlier swaps would count for later ones. */
export async function untilClosed(pool: Pool, ms = CLAIMS_MS): Promise<boolean> {
  const open = `select 1 from swaps where state not in ('closed', 'refunded', 'failed') limit 1`
  for (const end = now() + ms; now() < end; await delay(500))
    if ((await pool.query(open)).rowCount === 0) return true
  return false
}
