import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Pool } from 'pg'
import { delay } from '../bench/clock.ts'
import { createRandom } from '../bench/random.ts'
import { createCaller } from './clients/caller.ts'
import { live } from './clients/client.ts'
import { type Ledger, openLedger } from './ledger.ts'
import type { Mutant } from './mutants.ts'
import { makePeace, rage } from './nemesis.ts'
import type { ClientPlan, Place, Plan } from './plan.ts'
import { type Stage, setStage } from './stage.ts'

// Of the planned time, for what has not been seen in it.
const MOST_MORE = 0.6
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
  const life = { isOver: false }
  const first = begin(stage, plan, { clients: plan.clients, ledger, life })
  const progress = reportProgress(stage, plan, say)
  stage.state.isFair = false
  await Promise.all([rage(stage.field, plan.events), delay(plan.seconds * 1_000)])
  const more = await goOn(stage, plan, { ledger, life, say })
  stage.state.isFair = true
  stage.crew.calm()
  await makePeace(stage.field)
  say(`faults are over after ${seconds(started)} s; waiting for every swap to end`)
  const calmAt = Date.now()
  await untilQuiet(stage.pool, plan.drainSeconds)
  life.isOver = true
  await Promise.all([first, more?.clients])
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

type Life = { isOver: boolean }
type Begin = { clients: readonly ClientPlan[]; ledger: Ledger; life: Life }

/** Lets these clients begin at their times. Resolves when all of them have ended. */
async function begin(stage: Stage, plan: Plan, { clients, ledger, life }: Begin): Promise<void> {
  const started = Date.now()
  const { world, solana, crew } = stage
  const isOver = () => life.isOver
  await Promise.all(
    clients.map(async (client) => {
      const party = stage.parties.get(client.id)
      if (!party) throw new Error(`Client ${client.id} has no wallet`)
      await delay(started + client.at - Date.now())
      if (isOver()) return
      const random = createRandom(plan.seed + 1_000 + client.id)
      const access = { id: client.id, apiUrls: crew.apiUrls, ledger, random, isOver }
      const caller = createCaller({ ...access, apiKey: stage.apiKey })
      const stranger = createCaller({ ...access, id: -1, apiKey: stage.strangerKey })
      await live({ world, solana, caller, stranger, random, isOver }, party)
    }),
  )
}

/** What has not been seen yet gets another chance: everything happens once more, with the clients in reserve. */
async function goOn(stage: Stage, plan: Plan, how: Omit<Begin, 'clients'> & { say(line: string): void }) {
  const isSeen = () => [...stage.crew.crashes.values()].every((count) => count >= plan.crashes)
  if (isSeen()) return undefined
  how.say('some fail-points were not reached yet: going on')
  const clients = begin(stage, plan, { ...how, clients: plan.reserve })
  const deadline = Date.now() + plan.seconds * MOST_MORE * 1_000
  const stop = new AbortController()
  const raging = rage(stage.field, plan.events, stop.signal)
  while (!isSeen() && Date.now() < deadline) await delay(200)
  stop.abort()
  await raging
  return { clients }
}

const seconds = (since: number) => ((Date.now() - since) / 1_000).toFixed(0)

const OPEN = `select count(*)::int as open from swaps where state not in ('closed', 'refunded', 'failed')`

/** Nothing is left to do: every swap has ended, and its money is where it stays. */
async function untilQuiet(pool: Pool, withinSeconds: number): Promise<void> {
  const deadline = Date.now() + withinSeconds * 1_000
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
  writeFileSync(join(dir, 'facts.json'), JSON.stringify({ ...times, crashes, requests, least: plan.least }))
}
