import { join } from 'node:path'
import { startNetwork } from '@geoswap/devnet'
import { Pool } from 'pg'
import type { PrivateKeyAccount } from 'viem/accounts'
import { createWorld, type LocalNetwork, outcomeOf, submitSwap } from '../world.ts'
import { delay, now } from './clock.ts'
import type { Figure } from './figures.ts'
import type { Bench } from './network.ts'
import { untilClosed } from './scale.ts'
import { createApiKey } from './service.ts'
import { countLogged, logStatements, type Statements } from './statements.ts'
import { createTraders, inGroups, orderOf, type Trading } from './traders.ts'
import { readSizes, readWal, type Wal } from './wal.ts'

const WALLETS = 25
const AT_ONCE = 20
const REST_MS = 20_000
const CLAIMED_MS = 300_000
const SHOWN = 40
const MIB = 1_024 * 1_024
const GOALS = { wal: 20, size: 12 }

type Count = { seconds: number; transactions: number; logged: Statements; wal: Walled; sizes: Sized }
type Walled = ReadonlyMap<string, Wal>
type Sized = ReadonlyMap<string, number>
type Watched = { pool: Pool; log: string }

/**
 * Measures swaps in the database, from their quotes until their inputs are claimed, less the service at rest.
 */
export async function measureDatabase({ say }: Pick<Bench, 'say'>, wanted: number): Promise<Figure[]> {
  const { PATH = '', HOME = '' } = process.env
  const network = await startNetwork({ env: { PATH, HOME }, say: () => {} })
  const pool = new Pool({ connectionString: network.databaseUrl, max: 2 })
  try {
    await logStatements(pool)
    const apiKey = await createApiKey(network, 'database')
    const trading = { world: createWorld({ ...network.local, apiKey } as LocalNetwork), say }
    const wallets = await createTraders(trading, WALLETS)
    await untilClosed(pool)
    const watched = { pool, log: join(network.home, 'logs', 'postgres.log') }
    say(`at rest for ${REST_MS / 1_000} s`)
    const rest = await countDuring(watched, () => delay(REST_MS))
    say(`${wanted} swaps, ${AT_ONCE} at once`)
    let swaps = 0
    const all = await countDuring(watched, async () => {
      const turns = Array.from({ length: wanted }, (_, index) => wallets[index % WALLETS])
      await inGroups(
        turns.flatMap((wallet) => wallet ?? []),
        AT_ONCE,
        async (wallet) => {
          if (await swapOnce(trading, wallet)) swaps += 1
        },
      )
      if (!(await untilClosed(pool, CLAIMED_MS))) say('not every input is claimed: the figures are too low')
    })
    describe(say, { swaps, rest, all })
    return toFigures({ swaps, rest, all })
  } finally {
    await pool.end()
    await network.stop()
  }
}

/** Whether it settled. A busy machine refuses some: what was refused is not counted as a swap. */
async function swapOnce({ world, say }: Trading, wallet: PrivateKeyAccount): Promise<boolean> {
  try {
    const { swapId } = await submitSwap(world, wallet, orderOf({ world, say }))
    return (await outcomeOf(world, swapId)).status === 'settled'
  } catch (error) {
    say(`refused: ${error instanceof Error ? error.message : error}`)
    return false
  }
}

async function countDuring({ pool, log }: Watched, work: () => Promise<unknown>): Promise<Count> {
  const endLog = await countLogged(log)
  const [before, sizesBefore, start] = [await readCounters(pool), await readSizes(pool), now()]
  await work()
  const seconds = (now() - start) / 1_000
  const after = await readCounters(pool)
  const sizes = await readSizes(pool)
  const wal = await readWal(pool, { from: before.lsn, to: after.lsn })
  return {
    seconds,
    transactions: after.transactions - before.transactions,
    logged: await endLog(),
    wal,
    sizes: new Map([...sizes].map(([name, bytes]) => [name, bytes - (sizesBefore.get(name) ?? 0)])),
  }
}

async function readCounters(pool: Pool): Promise<{ lsn: string; transactions: number }> {
  const { rows } = await pool.query<{ lsn: string; transactions: string }>(
    `select pg_current_wal_flush_lsn() as lsn, xact_commit + xact_rollback as transactions
       from pg_stat_database where datname = current_database()`,
  )
  return { lsn: rows[0]?.lsn ?? '', transactions: Number(rows[0]?.transactions) }
}

type Result = { swaps: number; rest: Count; all: Count }

/** The amount per swap, less that at rest in the same time. */
function perSwap({ swaps, rest, all }: Result, read: (count: Count) => number): number {
  return (read(all) - (read(rest) * all.seconds) / rest.seconds) / swaps
}

const sum = (values: Iterable<number>) => [...values].reduce((total, value) => total + value, 0)
const walOf = (kind: keyof Wal) => (count: Count) => sum([...count.wal.values()].map((wal) => wal[kind]))

function toFigures(result: Result): Figure[] {
  const { swaps, rest, all } = result
  const wal = (perSwap(result, walOf('records')) * 1_000) / MIB
  const images = (perSwap(result, walOf('images')) * 1_000) / MIB
  const size = (sum(all.sizes.values()) / swaps) * (1_000 / MIB)
  const roles = [...all.logged.roles.keys()].map((role) => {
    return `${role} ${perSwap(result, ({ logged }) => logged.roles.get(role) ?? 0).toFixed(1)}`
  })
  const atRest = `at rest, per second: ${(walOf('records')(rest) / rest.seconds / 1_024).toFixed(1)} KiB`
  const idle = `at rest, per second: ${(rest.transactions / rest.seconds).toFixed(1)}`
  return [
    {
      name: 'WAL per 1,000 swaps, without images of whole pages',
      measured: `${wal.toFixed(1)} MiB`,
      baseline: `${atRest}; images ${images.toFixed(1)} MiB per 1,000 swaps`,
      goal: `≤ ${GOALS.wal} MiB`,
      ok: wal <= GOALS.wal,
    },
    {
      name: 'Tables and indexes, per 1,000 swaps',
      measured: `${size.toFixed(1)} MiB`,
      baseline: '',
      goal: `≤ ${GOALS.size} MiB`,
      ok: size <= GOALS.size,
    },
    {
      name: 'Transactions per swap, from its quote until its claim',
      measured: perSwap(result, ({ transactions }) => transactions).toFixed(1),
      baseline: idle,
    },
    { name: '· by role', measured: roles.join(', '), baseline: '' },
    {
      name: '· statements',
      measured: perSwap(result, ({ logged }) => logged.statements).toFixed(1),
      baseline: '',
    },
  ]
}

/** The largest parts, by table and by transaction. */
function describe(say: Bench['say'], result: Result): void {
  const { all, rest, swaps } = result
  say('bytes per swap: WAL beyond that at rest, of that images of whole pages, and room')
  const rows = [...new Set([...all.wal.keys(), ...all.sizes.keys()])].map((name) => ({
    name,
    records: perSwap(result, ({ wal }) => wal.get(name)?.records ?? 0),
    images: perSwap(result, ({ wal }) => wal.get(name)?.images ?? 0),
    room: (all.sizes.get(name) ?? 0) / swaps,
  }))
  for (const { name, ...bytes } of rows.sort((a, b) => b.records + b.room - a.records - a.room)) {
    const columns = [bytes.records, bytes.images, bytes.room].map((value) => value.toFixed(0).padStart(7))
    if (bytes.records + bytes.room >= 1) say(`${columns.join('')}  ${name}`)
  }
  say(`transactions per swap by their first statement, in ${all.seconds.toFixed(0)} s`)
  const kinds = [...all.logged.kinds].sort(([, a], [, b]) => b - a).slice(0, SHOWN)
  for (const [kind, count] of kinds) {
    const idle = ((rest.logged.kinds.get(kind) ?? 0) * all.seconds) / rest.seconds
    say(
      `${((count - idle) / swaps).toFixed(2).padStart(7)}${(idle / swaps).toFixed(2).padStart(7)} at rest  ${kind}`,
    )
  }
}
