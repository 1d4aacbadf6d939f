import type { PrivateKeyAccount } from 'viem/accounts'
import { outcomeOf } from '../world.ts'
import { now } from './clock.ts'
import type { Figure } from './figures.ts'
import { growDatabase } from './grown-swaps.ts'
import type { Bench } from './network.ts'
import { median, ms, percentile } from './statistics.ts'
import { storePending } from './stored-swaps.ts'
import { atPace, createTraders, prepareSwaps } from './traders.ts'

const WALLETS = 25
const SUBMITS = 150
const SUBMIT_EVERY_MS = 100
const READS = 600
// Slow enough to measure single calls, not their queueing: a read of history takes an API process some 2 ms.
const READ_EVERY_MS = 10
const PENDING = 100
const ENDED = 1_000_000
const OPEN = 10_000
const MOST = 1.5
// A few calls decide a p99, and other load on the machine decides those few, so the median of several rounds
// counts.
const ROUNDS = 3
const READ_ROUNDS = 3

const CALLS = ['submit', 'status', 'history'] as const
type Call = (typeof CALLS)[number]
/** The times of each round of each call. */
type Rounds = Record<Call, number[][]>

/** Compares a full database with an empty one: both in the same run, with the same calls. */
export async function measureGrowth(bench: Bench): Promise<Figure[]> {
  const wallets = await createTraders(bench, WALLETS)
  // The API caches ended swaps; these pending ones are read from the database each time.
  const pending = await storePending(bench, bench.world.local.apiKey, PENDING)
  const empty = await measureWarm(bench, wallets, pending)
  bench.say(`storing ${ENDED} swaps that are over and ${OPEN} open ones`)
  const bytes = await growDatabase(bench, { ended: ENDED, open: OPEN })
  bench.say(`stored: ${bytes} of tables and indexes`)
  const full = await measureWarm(bench, wallets, pending)
  return CALLS.map((name) => compare(name, empty, full))
}

/** All rounds except the first, which warms up. */
async function measureWarm(...given: Parameters<typeof measure>): Promise<Rounds> {
  await measure(...given)
  const all: Rounds = { submit: [], status: [], history: [] }
  for (let round = 0; round < ROUNDS; round += 1) {
    const measured = await measure(...given)
    for (const call of CALLS) all[call].push(...measured[call])
  }
  return all
}

async function measure(
  bench: Bench,
  wallets: readonly PrivateKeyAccount[],
  swapIds: readonly string[],
): Promise<Rounds> {
  const { world, say } = bench
  const prepared = await prepareSwaps(bench, wallets, SUBMITS)
  const submitted = await atPace(prepared, SUBMIT_EVERY_MS, async ({ submission }) => {
    const start = now()
    const { status, body } = await world.api.submit(submission)
    if (status !== 200) throw new Error(`submit: ${status} ${body.code}`)
    return { took: now() - start, swapId: body.swapId }
  })
  await Promise.all(submitted.map(({ swapId }) => outcomeOf(world, swapId)))
  const read = (path: (index: number) => string) =>
    atPace(
      Array.from({ length: READS }, (_, index) => path(index)),
      READ_EVERY_MS,
      async (each) => {
        const start = now()
        const { status } = await world.api.call('GET', each)
        if (status !== 200) throw new Error(`${each}: ${status}`)
        return now() - start
      },
    )
  const rounds: Rounds = { submit: [submitted.map(({ took }) => took)], status: [], history: [] }
  for (let round = 0; round < READ_ROUNDS; round += 1) {
    rounds.status.push(await read((index) => `/swap/status/${swapIds[index % swapIds.length]}?wait=0`))
    const settled = (index: number) => (index % 2 === 0 ? '' : '&status=settled')
    rounds.history.push(await read((index) => `/swap/history?limit=20${settled(index)}`))
  }
  say(`p99: ${CALLS.map((call) => `${call} ${p99sOf(rounds[call]).map(ms).join(' ')}`).join(', ')}`)
  return rounds
}

const p99sOf = (rounds: readonly number[][]) => rounds.map((times) => percentile(times, 0.99))

function compare(call: Call, empty: Rounds, full: Rounds): Figure {
  const [before, after] = [median(p99sOf(empty[call])), median(p99sOf(full[call]))]
  const p50 = (rounds: Rounds) => ms(median(rounds[call].flat()))
  return {
    name: `${call} with ${ENDED.toLocaleString('en')} swaps, p99`,
    measured: `${ms(after)} (p50 ${p50(full)})`,
    baseline: `empty ${ms(before)} (p50 ${p50(empty)})`,
    goal: `≤ ${MOST} × empty`,
    ok: after <= before * MOST,
  }
}
