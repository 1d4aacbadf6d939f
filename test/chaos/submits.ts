import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Network, startNetwork } from '@geoswap/devnet'
import { Pool } from 'pg'
import type { Hex } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { delay } from '../bench/clock.ts'
import { createRandom, type Random } from '../bench/random.ts'
import { createApiKey } from '../bench/service.ts'
import { delegateTo } from '../instant-wallet.ts'
import { createWorld, type LocalNetwork, toRequest, type World } from '../world.ts'
import { type Caller, createCaller } from './clients/caller.ts'
import { type Ledger, openLedger } from './ledger.ts'
import { type ServiceProcesses, startProcesses, untilReady } from './processes.ts'

// A single question: is every swap that was acknowledged with 200 still stored, whatever was killed at that
// time?

const USDC = 10n ** 6n
const AMOUNT = 5n * USDC
const SWAPS_PER_WALLET = 100
const AT_ONCE = 16
// By acknowledgements in between, so that a slow machine kills no more often than a fast one.
const ACKNOWLEDGED_PER_KILL = [8, 24] as const
const KILLS_PER_DATABASE = 4
const SUBMITS_PER_CRASH = 50
const LOOK_MS = 20

type Submission = { geoOpToken: string; signature: Hex }
type Acknowledged = { submission: Submission; swapId: string }
type SubmitReport = {
  acknowledged: number
  killed: number
  databaseKilled: number
  /** Submissions without an answer that were sent again. */
  unanswered: number
  /** Acknowledged, and not stored exactly once. */
  lost: string[]
  /** Acknowledged, and answered differently when submitted again. */
  changed: string[]
}

type Options = { submits: number; seed: number; dir: string; say(line: string): void }

/** Submits while API processes and the database are killed, then looks for every acknowledged swap. */
export async function runSubmits({ submits, seed, dir, say }: Options): Promise<SubmitReport> {
  const ledger = openLedger(dir)
  const random = createRandom(seed)
  const env = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' }
  const network = await startNetwork({ service: false, home: join(dir, 'network'), blockMs: 1_000, say, env })
  const processes = await startProcesses({
    // The worker counts the inventory that submissions reserve.
    ...{ network, ledger, random, workers: 1, attesters: 0, armed: ['api'] },
    target: Math.ceil(submits / SUBMITS_PER_CRASH),
    config: (file) => file,
  })
  const apiKey = await createApiKey(network, 'submits')
  const world = createWorld({ ...network.local, apiUrl: processes.apiUrls[0] ?? '', apiKey } as LocalNetwork)
  try {
    const wallets = await createWallets(world, Math.ceil(submits / SWAPS_PER_WALLET))
    await untilReady(processes.apiUrls, 90_000)
    const caller = createCaller({
      id: 0,
      apiUrls: processes.apiUrls,
      apiKey,
      ledger,
      random,
      isOver: () => false,
    })
    const acknowledged: Acknowledged[] = []
    const killing = startKilling({ network, processes, ledger, random, acknowledged })
    const turns = Array.from({ length: submits }, (_, index) => wallets[index % wallets.length] ?? wallets[0])
    await submitAll({ world, caller, say, acknowledged }, turns as PrivateKeyAccount[])
    const deaths = await killing.stop()
    processes.calm()
    await untilReady(processes.apiUrls, 60_000)
    const lost = await findLost(network, acknowledged)
    const changed = await findChanged(caller, acknowledged)
    return { acknowledged: acknowledged.length, ...deaths, unanswered: countUnanswered(dir), lost, changed }
  } finally {
    await processes.stop()
    await network.stop()
  }
}

/**
 * Funded with twice the amount of their swaps, since an input that has left counts as pending until the
 * worker has seen it. Delegated, so that builds need no authorization.
 */
async function createWallets(world: World, count: number): Promise<PrivateKeyAccount[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const wallet = privateKeyToAccount(generatePrivateKey())
      await world.fund(world.alpha, wallet.address, 'USDC', 2n * AMOUNT * BigInt(SWAPS_PER_WALLET))
      await delegateTo(world.alpha, wallet.address, world.alpha.contracts.account)
      return wallet
    }),
  )
}

type Scene = { world: World; caller: Caller; acknowledged: Acknowledged[]; say(line: string): void }

async function submitAll(scene: Scene, turns: PrivateKeyAccount[]): Promise<void> {
  const { acknowledged } = scene
  const work = async () => {
    for (let wallet = turns.shift(); wallet; wallet = turns.shift()) {
      acknowledged.push(await submitOne(scene, wallet))
      if (acknowledged.length % 250 === 0) scene.say(`${acknowledged.length} submissions were acknowledged`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

/** Until a submission is acknowledged: an expired one starts again with a new quote. */
async function submitOne(scene: Scene, wallet: PrivateKeyAccount): Promise<Acknowledged> {
  const { world, caller } = scene
  const order = { from: world.alpha, sell: 'USDC', to: world.beta, buy: 'USDC', amount: AMOUNT }
  for (;;) {
    const quote = await caller.quote(toRequest(wallet, order))
    if (quote.status !== 200)
      throw new Error(`quote: ${quote.status} ${quote.body.code} ${quote.body.message}`)
    const build = await caller.build({ geoQuoteToken: quote.body.geoQuoteToken })
    if (build.status === 410) continue
    if (build.status !== 200)
      throw new Error(`build: ${build.status} ${build.body.code} ${build.body.message}`)
    const { geoOpHash, geoOpToken } = build.body
    const signature = await wallet.signMessage({ message: { raw: geoOpHash as Hex } })
    const submission = { geoOpToken, signature }
    // Twice at once, often to two processes: it is still one swap.
    const [first, second] = await Promise.all([caller.submit(submission), caller.submit(submission)])
    if (first.body.swapId !== second.body.swapId && first.status === second.status)
      throw new Error(`One submission is ${first.body.swapId} and ${second.body.swapId}`)
    const { status, body } = first.status === 200 ? first : second
    if (status === 200) return { submission, swapId: body.swapId }
    if (status !== 410) throw new Error(`submit: ${status} ${body.code} ${body.message}`)
  }
}

type Killing = {
  network: Network
  processes: ServiceProcesses
  ledger: Ledger
  random: Random
  acknowledged: readonly Acknowledged[]
}

function startKilling({ network, processes, ledger, random, acknowledged }: Killing) {
  const deaths = { killed: 0, databaseKilled: 0 }
  const end = new AbortController()
  const kill = async () => {
    for (let turn = 1; ; turn += 1) {
      const next = acknowledged.length + random.integer(...ACKNOWLEDGED_PER_KILL)
      while (acknowledged.length < next && !end.signal.aborted) await delay(LOOK_MS)
      if (end.signal.aborted) return
      const isDatabase = turn % KILLS_PER_DATABASE === 0
      ledger.fault(isDatabase ? 'killDatabase' : 'kill')
      if (isDatabase) network.kill('postgres')
      else processes.signal('api', random.integer(0, 1), 'SIGKILL')
      deaths[isDatabase ? 'databaseKilled' : 'killed'] += 1
    }
  }
  const killing = kill()
  return {
    async stop() {
      end.abort()
      await killing
      const crashed = [...processes.crashes.values()].reduce((sum, count) => sum + count, 0)
      return { ...deaths, killed: deaths.killed + crashed }
    },
  }
}

async function findLost({ databaseUrl }: Network, acknowledged: readonly Acknowledged[]): Promise<string[]> {
  const pool = new Pool({ connectionString: databaseUrl, max: 1 })
  try {
    const { rows } = await pool.query<{ id: string; quote_id: string }>('select id, quote_id from swaps')
    const stored = new Set(rows.map(({ id }) => id))
    const twice = rows.length - new Set(rows.map(({ quote_id }) => quote_id)).size
    const told = new Set(acknowledged.map(({ swapId }) => swapId))
    return [
      ...[...told].filter((id) => !stored.has(id)),
      ...(twice > 0 ? [`${twice} quotes with two swaps`] : []),
      ...(told.size < acknowledged.length ? ['one swap for two quotes'] : []),
    ]
  } finally {
    await pool.end()
  }
}

async function findChanged(caller: Caller, acknowledged: readonly Acknowledged[]): Promise<string[]> {
  const queue = [...acknowledged]
  const changed: string[] = []
  const work = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const { status, body } = await caller.submit(next.submission)
      if (status !== 200 || body.swapId !== next.swapId)
        changed.push(`${next.swapId}: ${status} ${body.code ?? body.swapId}`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return changed
}

function countUnanswered(dir: string): number {
  const lines = readFileSync(join(dir, 'history.jsonl'), 'utf8').trim().split('\n')
  return lines.filter((line) => line.includes('"type":"info"') && line.includes('"/swap/submit"')).length
}
