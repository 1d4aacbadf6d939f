import { privateKeyToAccount } from 'viem/accounts'
import { toRequest } from '../world.ts'
import type { BareFunctions } from './bare-server.ts'
import { delay, now } from './clock.ts'
import { below, type Figure, isTrue } from './figures.ts'
import type { Answered, HolderFunctions, Target } from './holder.ts'
import type { Bench } from './network.ts'
import { type Remote, startRemote } from './remote.ts'
import { median, ms, percentile, spread } from './statistics.ts'
import { settleTogether, storePending } from './stored-swaps.ts'
import { orderOf } from './traders.ts'

const ACCOUNTS = 5
const HELD = 5_000
const SOME = 1_000
const ROUNDS = 2
const QUOTES_EVERY_MS = 20
const STEADY_MS = 3_000
const LATEST_MS = 12_000

type Setting = {
  bench: Bench
  holder: Remote<HolderFunctions>
  bare: Remote<BareFunctions>
  barePort: number
  keys: string[]
}
type Round = { last: number; all: number[]; quotes: number[] }

/** Thousands of held reads in one process: how fast they are answered, and the effect on other calls. */
export async function measurePolls(bench: Bench): Promise<Figure[]> {
  const holder = startRemote<HolderFunctions>('./holder.ts')
  const bare = startRemote<BareFunctions>('./bare-server.ts')
  try {
    const barePort = await bare.call('listen')
    const names = Array.from({ length: ACCOUNTS }, (_, index) => `poller-${index}`)
    const keys = await Promise.all(names.map((name) => bench.createKey(name)))
    return await runRounds({ bench, holder, bare, barePort, keys })
  } finally {
    holder.stop()
    bare.stop()
  }
}

async function runRounds(setting: Setting): Promise<Figure[]> {
  const some: Round[] = []
  const all: Round[] = []
  const bareSome: Round[] = []
  const bareAll: Round[] = []
  for (let count = 0; count < ROUNDS; count += 1) {
    bareSome.push(await bareRound(setting, SOME))
    some.push(await round(setting, SOME))
    bareAll.push(await bareRound(setting, HELD))
    all.push(await round(setting, HELD))
  }
  const times = [...some, ...all].flatMap(({ quotes }) => quotes)
  const lastOf = (rounds: Round[]) => median(rounds.map(({ last }) => last))
  const bareText = (rounds: Round[]) => `bare ${ms(lastOf(rounds))}`
  const held = `${HELD} in one process`
  return [
    isTrue('Held status reads', { ok: true, measured: held, goal: held }),
    below(`${SOME} of ${HELD} end together: last answer`, {
      ...{ value: lastOf(some), limit: 250, baseline: bareText(bareSome) },
    }),
    below(`${HELD} end together: last answer`, {
      ...{ value: lastOf(all), limit: 1_000, baseline: bareText(bareAll) },
    }),
    below('Quotes meanwhile (50/s), p99', {
      ...{ value: percentile(times, 0.99), limit: 200, baseline: `p50 ${ms(median(times))}` },
    }),
  ]
}

/** Holds all reads, waits a while, then ends some of them in one transaction. */
async function round({ bench, holder, keys }: Setting, ending: number): Promise<Round> {
  const port = Number(new URL(bench.world.local.apiUrl).port)
  const stored = await Promise.all(
    keys.map(async (apiKey) => ({ apiKey, ids: await storePending(bench, apiKey, HELD / ACCOUNTS) })),
  )
  const swaps = stored.flatMap(({ apiKey, ids }) => ids.map((id) => ({ apiKey, id })))
  const targets = swaps.map(({ apiKey, id }): Target => ({ port, path: `/swap/status/${id}`, apiKey }))
  const start = now()
  await holder.call('ask', targets)
  await until(async () => (await readHeld(bench)) === HELD)
  bench.say(`${HELD} reads are held, after ${ms(now() - start)}`)
  const quotes = quoteSteadily(bench)
  await delay(STEADY_MS)
  // Spreads the ending swaps over all accounts, every fifth for example.
  const chosen = swaps.filter((_, index) => index % (HELD / ending) === 0).map(({ id }) => id)
  const storedAt = await settleTogether(bench, chosen)
  const result = toRound(await collect(holder, ending), storedAt, '"status":"settled"')
  bench.say(`${ending} ended together: answered ${spread(result.all)}`)
  // Thousands of connections that close at the same time are not part of the measurement.
  const times = await quotes.stop()
  await holder.call('leave')
  await until(async () => (await readHeld(bench)) === 0)
  return { ...result, quotes: times }
}

async function bareRound({ bare, barePort, holder, bench }: Setting, ending: number): Promise<Round> {
  await bare.call('setReply', JSON.stringify({ padding: 'x'.repeat(1_100) }))
  const target = { port: barePort, path: '/hold/swap', apiKey: 'none' }
  await holder.call(
    'ask',
    Array.from({ length: HELD }, () => target),
  )
  await until(async () => (await bare.call('heldCount')) === HELD)
  const releasedAt = await bare.call('release', ending)
  const result = toRound(await collect(holder, ending), releasedAt, 'padding')
  bench.say(`bare: ${ending} ended together: answered ${spread(result.all)}`)
  await bare.call('release', HELD)
  await holder.call('leave')
  return result
}

async function collect(holder: Remote<HolderFunctions>, count: number): Promise<Answered[]> {
  await delay(1_500)
  await until(async () => (await holder.call('answers')).length >= count)
  return holder.call('answers')
}

function toRound(answers: readonly Answered[], since: number, expected: string): Round {
  const wrong = answers.find(({ text }) => !text.startsWith('HTTP/1.1 200') || !text.includes(expected))
  if (wrong) throw new Error(`A held read was answered with ${wrong.text.slice(0, 300)}`)
  const all = answers.map(({ at }) => at - since)
  return { all, last: Math.max(...all), quotes: [] }
}

async function readHeld({ world }: Bench): Promise<number> {
  const text = await (await fetch(`${world.local.apiUrl}/metrics`)).text()
  return Number(/^geoswap_held_status_reads (\d+)/m.exec(text)?.[1] ?? 0)
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const end = now() + LATEST_MS
  while (!(await isSo())) {
    if (now() > end) throw new Error('The held reads did not get there in time')
    await delay(100)
  }
}

/** Requests quotes at a steady rate until stopped, and records the time of each from its due time. */
function quoteSteadily(bench: Bench) {
  const { world } = bench
  const wallet = privateKeyToAccount(`0x${'22'.repeat(32)}`)
  const request = toRequest(wallet, orderOf(bench))
  const pending: Promise<void>[] = []
  const times: number[] = []
  let stopped = false
  const ask = async (dueAt: number) => {
    const answer = await world.api.quote(request).catch(() => undefined)
    // A quote without an answer counts as infinitely slow.
    times.push(answer?.status === 200 ? now() - dueAt : Number.POSITIVE_INFINITY)
  }
  const run = async () => {
    for (let due = now(); !stopped; due += QUOTES_EVERY_MS) {
      await delay(due - now())
      pending.push(ask(due))
    }
  }
  const running = run()
  return {
    async stop(): Promise<number[]> {
      stopped = true
      await running
      await Promise.all(pending)
      return times
    },
  }
}
