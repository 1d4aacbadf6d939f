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
// Half of what an API process on two cores can read: what one call takes is measured, not how long calls queue.
const READ_EVERY_MS = 10
const PENDING = 100
const ENDED = 1_000_000
const OPEN = 10_000
const MOST = 1.5
// A few calls decide a p99, and what else the machine does makes those few slower, never quicker: the quietest round
// counts, of both.
const ROUNDS = 5

const CALLS = ['submit', 'status', 'history'] as const
type Times = Record<(typeof CALLS)[number], number[]>
type Rounds = readonly Times[]

/** Whether a full database is as quick as an empty one: both in the same run, with the same calls. */
export async function measureGrowth(bench: Bench): Promise<Figure[]> {
  const wallets = await createTraders(bench, WALLETS)
  // Of those that are over an API process answers many from memory: these are read from the database each time.
  const pending = await storePending(bench, bench.world.local.apiKey, PENDING)
  const empty = await measureWarm(bench, wallets, pending)
  bench.say(`storing ${ENDED} swaps that are over and ${OPEN} open ones`)
  const bytes = await growDatabase(bench, { ended: ENDED, open: OPEN })
  bench.say(`stored: ${bytes} of tables and indexes`)
  const full = await measureWarm(bench, wallets, pending)
  return CALLS.map((name) => compare(name, empty, full))
}

/** The times of all rounds but the first, which warms up. */
async function measureWarm(...given: Parameters<typeof measure>): Promise<Rounds> {
  await measure(...given)
  const rounds: Times[] = []
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await measure(...given))
  return rounds
}

async function measure(
  bench: Bench,
  wallets: readonly PrivateKeyAccount[],
  swapIds: readonly string[],
): Promise<Times> {
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
  const times = {
    submit: submitted.map(({ took }) => took),
    status: await read((index) => `/swap/status/${swapIds[index % swapIds.length]}?wait=0`),
    history: await read((index) => `/swap/history?limit=20${index % 2 === 0 ? '' : '&status=settled'}`),
  }
  say(`p99: ${CALLS.map((name) => `${name} ${ms(percentile(times[name], 0.99))}`).join(', ')}`)
  return times
}

function compare(name: keyof Times, empty: Rounds, full: Rounds): Figure {
  const p99s = (rounds: Rounds) => rounds.map((times) => percentile(times[name], 0.99))
  const [before, after] = [Math.min(...p99s(empty)), Math.min(...p99s(full))]
  const others = (rounds: Rounds) => {
    const p50 = median(rounds.flatMap((times) => times[name]))
    return `(rounds up to ${ms(Math.max(...p99s(rounds)))}, p50 ${ms(p50)})`
  }
  return {
    name: `${name} with ${ENDED.toLocaleString('en')} swaps, p99`,
    measured: `${ms(after)} ${others(full)}`,
    baseline: `empty ${ms(before)} ${others(empty)}`,
    goal: `≤ ${MOST} × empty`,
    ok: after <= before * MOST,
  }
}
