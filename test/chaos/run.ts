import { setMaxListeners } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Pool } from 'pg'
import type { FailPoint } from '../../packages/service/src/fail-point.ts'
import { delay } from '../bench/clock.ts'
import { createRandom } from '../bench/random.ts'
import { MOVES } from './checker/coverage.ts'
import { createCaller } from './clients/caller.ts'
import { live } from './clients/client.ts'
import { direct } from './director.ts'
import { type Ledger, openLedger } from './ledger.ts'
import type { Mutant } from './mutants.ts'
import { makePeace, rage } from './nemesis.ts'
import type { ClientPlan, Place, Plan } from './plan.ts'
import { type Stage, setStage } from './stage.ts'

// Times the planned time, for what has not been seen in it.
const MOST_MORE = 2
const LOOK_MS = 250
// Blocks enough to see what the last moves of the service were made by.
const AFTERMATH_MS = 2_000
const PLACES: readonly Place[] = ['alpha', 'beta', 'solana']

export type RunOptions = { plan: Plan; dir: string; mutant?: Mutant; say(line: string): void }

/** One run: everything starts, breaks and comes to rest, and its folder says what the checker needs to know. */
export async function run({ plan, dir, mutant, say }: RunOptions): Promise<{ stop(): Promise<void> }> {
  const ledger = openLedger(dir)
  writeFileSync(join(dir, 'plan.json'), JSON.stringify(plan))
  const stage = await setStage({ plan, dir, say, ...(mutant && { mutant }) }, ledger)
  const started = Date.now()
  const life = { isClosed: false, isOver: false }
  const first = begin(stage, plan, { clients: plan.clients, ledger, life })
  const progress = reportProgress(stage, plan, say)
  stage.state.isFair = false
  const more = await (plan.isGate ? passGate : rageAll)(stage, plan, { ledger, life, say, first })
  life.isClosed = true
  stage.state.isFair = true
  stage.crew.calm()
  await makePeace(stage.field)
  say(`faults are over after ${seconds(started)} s; waiting for every swap to end`)
  const calmAt = Date.now()
  const clients = Promise.all([first.ended, more?.ended])
  await Promise.race([clients, delay(plan.drainSeconds * 1_000)])
  await untilQuiet(stage.pool, calmAt + plan.drainSeconds * 1_000)
  life.isOver = true
  await clients
  progress.stop()
  const quietMs = Date.now() - calmAt
  say(`quiet ${(quietMs / 1_000).toFixed(1)} s after the last fault`)
  // What the checker reads must not move under its eyes, also when something did not come to rest.
  await stage.crew.stop()
  await delay(AFTERMATH_MS)
  stage.heads.stop()
  await writeFacts(stage, plan, { calmAt, quietMs })
  return { stop: stage.stop }
}

/** Closed, nobody begins any more; over, nobody waits any longer. */
type Life = { isClosed: boolean; isOver: boolean }
type Begin = { clients: readonly ClientPlan[]; ledger: Ledger; life: Life }

type Begun = { areAllIn(): boolean; ended: Promise<unknown> }

/** Lets these clients begin, each at its time and when there is room for it. */
function begin(stage: Stage, plan: Plan, { clients, ledger, life }: Begin): Begun {
  const started = Date.now()
  const { world, solana, crew } = stage
  const isOver = () => life.isOver
  let waiting = clients.length
  let here = 0
  const enter = async (client: ClientPlan) => {
    const party = stage.parties.get(client.id)
    if (!party) throw new Error(`Client ${client.id} has no wallet`)
    await delay(started + client.at - Date.now())
    while (here >= (plan.atOnce ?? clients.length) && !life.isClosed) await delay(LOOK_MS)
    waiting -= 1
    if (life.isClosed) return
    here += 1
    const random = createRandom(plan.seed + 1_000 + client.id)
    const access = { id: client.id, apiUrls: crew.apiUrls, ledger, random, isOver }
    const caller = createCaller({ ...access, apiKey: stage.apiKey })
    const stranger = createCaller({ ...access, id: -1, apiKey: stage.strangerKey })
    await live({ world, solana, caller, stranger, random, isOver }, party)
    here -= 1
  }
  return { areAllIn: () => waiting === 0, ended: Promise.all(clients.map(enter)) }
}

type Rage = Omit<Begin, 'clients'> & { say(line: string): void; first: Begun }

/** Until every fail-point was seen and all the clients are there; those in reserve follow while that lasts. */
async function passGate(stage: Stage, plan: Plan, { first, ...how }: Rage): Promise<Begun | undefined> {
  const deadline = Date.now() + plan.seconds * 1_000
  const counts = stage.crew.crashes
  const isSeen = (point: FailPoint) => (counts.get(point) ?? 0) >= plan.crashes
  const isOver = () => Date.now() > deadline || [...counts.keys()].every(isSeen)
  let more: Begun | undefined
  const callMore = async () => {
    while (!isOver() || !first.areAllIn()) {
      if (first.areAllIn() && !more) more = begin(stage, plan, { ...how, clients: plan.reserve })
      await delay(LOOK_MS)
    }
  }
  const direction = { field: stage.field, isOver, isSeen: (...points: FailPoint[]) => points.every(isSeen) }
  await Promise.all([direct(direction), callMore()])
  return more
}

/** All that is planned; and all of it once more, with the clients in reserve, if something was not seen often enough. */
async function rageAll(stage: Stage, plan: Plan, { first: _, ...how }: Rage): Promise<Begun | undefined> {
  await rageFor(stage, plan, { seconds: plan.seconds, isDone: async () => false })
  if (plan.reserve.length === 0 || (await isAllSeen(stage, plan))) return undefined
  how.say('not everything was seen often enough yet: going on')
  const more = begin(stage, plan, { ...how, clients: plan.reserve })
  await rageFor(stage, plan, { seconds: plan.seconds * MOST_MORE, isDone: () => isAllSeen(stage, plan) })
  return more
}

type While = { seconds: number; isDone(): Promise<boolean> }

async function rageFor(stage: Stage, plan: Plan, { seconds, isDone }: While): Promise<void> {
  const stop = new AbortController()
  setMaxListeners(0, stop.signal)
  const raging = rage(stage.field, plan.events, stop.signal)
  const deadline = Date.now() + seconds * 1_000
  while (Date.now() < deadline && !(await isDone())) await delay(LOOK_MS)
  stop.abort()
  await raging
}

async function isAllSeen({ crew, pool }: Stage, plan: Plan): Promise<boolean> {
  if ([...crew.crashes.values()].some((count) => count < plan.crashes)) return false
  const moves = await pool
    .query<{ move: string; count: number }>(
      `select was || ' ' || became as move, count(*)::int from chaos_moves where was is not null group by 1`,
    )
    .catch(() => ({ rows: [] }))
  const seen = new Map(moves.rows.map(({ move, count }) => [move, count]))
  return MOVES.every((move) => (seen.get(move) ?? 0) >= plan.least)
}

const seconds = (since: number) => ((Date.now() - since) / 1_000).toFixed(0)

const OPEN = `select count(*)::int as open from swaps where state not in ('closed', 'refunded', 'failed')`

/** Nothing is left to do: every swap has ended, and its money is where it stays. */
async function untilQuiet(pool: Pool, deadline: number): Promise<void> {
  while (Date.now() < deadline) {
    const open = await pool.query<{ open: number }>(OPEN).then(
      ({ rows }) => rows[0]?.open,
      () => undefined,
    )
    if (open === 0) return
    await delay(250)
  }
}

function reportProgress({ pool, crew }: Stage, plan: Plan, say: (line: string) => void) {
  const started = Date.now()
  const report = async () => {
    const { rows } = await pool
      .query<{ state: string; count: string }>('select state, count(*) from swaps group by 1 order by 1')
      .catch(() => ({ rows: [] }))
    const states = rows.map(({ state, count }) => `${state} ${count}`).join(', ')
    const seen = [...crew.crashes.values()].filter((count) => count >= plan.crashes).length
    say(
      `${seconds(started)} s: ${states || 'the database is down'}; fail-points ${seen}/${crew.crashes.size}`,
    )
  }
  const timer = setInterval(() => void report(), 5_000)
  return { stop: () => clearInterval(timer) }
}

async function writeFacts(
  { crew, proxies, dir }: Stage,
  plan: Plan,
  times: { calmAt: number; quietMs: number },
) {
  const requests: Record<string, number> = {}
  for (const place of PLACES)
    for (const [fault, count] of proxies[place].counts) requests[fault] = (requests[fault] ?? 0) + count
  const crashes = Object.fromEntries(crew.crashes)
  const { least, isGate } = plan
  writeFileSync(join(dir, 'facts.json'), JSON.stringify({ ...times, crashes, requests, least, isGate }))
}
