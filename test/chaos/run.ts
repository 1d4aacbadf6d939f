import { setMaxListeners } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Address } from 'viem'
import type { FailPoint } from '../../packages/service/src/fail-point.ts'
import { delay } from '../bench/clock.ts'
import { createRandom } from '../bench/random.ts'
import { patience } from '../patience.ts'
import { MOVES, OVER } from './checker/coverage.ts'
import { createCaller } from './clients/caller.ts'
import { live } from './clients/client.ts'
import { passPace } from './crowd/pace.ts'
import { direct } from './director.ts'
import { type Ledger, openLedger } from './ledger.ts'
import type { Mutant } from './mutants.ts'
import { causeFault, causeFaults, endFaults } from './nemesis.ts'
import { type Begun, findUnreached, passGate } from './pass-gate.ts'
import { type ClientPlan, type EvmChainName, JUMP_SECONDS, type Plan } from './plan.ts'
import { countSteps, createStillness } from './progress.ts'
import { lapse, untilTaken } from './shape-faults.ts'
import { type Stage, setStage } from './stage.ts'
import { passSweep } from './sweep.ts'

// For events that were not seen in the planned time. An idle machine needs a fraction of it.
const MOST_MORE_MS = 1_200_000 * patience
const LOOK_MS = 250
const WAITS_MS = 5_000 * patience
const WAITED_SECONDS = 60
// A swap of a broken build may move for ever.
const MOST_STILLS = 4
// Enough blocks to see the basis of the service's last decisions.
const AFTERMATH_MS = 2_000
// On a shape, after the faults: time for swaps to end normally, then time that passes at once until all are
// at rest.
const CALM_MS = 25_000
const LAPSE_SECONDS = 300
// For clients that could not start during the faults.
const BACKLOG_MS = 45_000 * patience
const LAPSE_EVERY_MS = 4_000
// Until an input on Solana was paid for.
const ROB_MS = 60_000 * patience

type RunOptions = { plan: Plan; dir: string; mutant?: Mutant; say(line: string): void }

/**
 * One run: starts everything, causes the faults and waits for rest; its folder has the evidence for the
 * checker.
 */
export async function run({ plan, dir, mutant, say }: RunOptions): Promise<{ stop(): Promise<void> }> {
  const ledger = openLedger(dir)
  writeFileSync(join(dir, 'plan.json'), JSON.stringify(plan))
  const stage = await setStage({ plan, dir, say, ...(mutant && { mutant }) }, ledger)
  const started = Date.now()
  const life = { isClosed: false, isOver: false }
  const room = { taken: 0 }
  const beginHere = (clients: readonly ClientPlan[]) => begin(stage, plan, { clients, ledger, life, room })
  const first = beginHere(plan.clients)
  const progress = reportProgress(stage, plan, say)
  stage.state.isFair = false
  const { rounds = 0 } = plan.crowd ?? {}
  let isPaced = false
  const strangers = stage.crowd?.actUntil(rounds, () => isPaced)
  const more = await (plan.isGate
    ? passGate(stage, plan, { first, begin: beginHere, say })
    : causeAllFaults(stage, plan, { ledger, life, say, first }))
  isPaced = true
  await strangers
  // Of clients that come when the others are in.
  const late = { isClosed: false, isOver: false }
  const after = { ledger, life: late, say, first }
  if (stage.crowd && plan.crowd) {
    await calm(stage)
    await untilIn(first)
    // Nobody else may come while swaps are timed.
    life.isClosed = true
    const timed = { ...plan, atOnce: Number.POSITIVE_INFINITY }
    const beginTimed = (clients: readonly ClientPlan[]) =>
      begin(stage, timed, { clients, ledger, life: late })
    await passPace({
      field: stage.field,
      crowd: stage.crowd,
      plan: plan.crowd,
      isOfShape: plan.shape !== undefined,
      begin: beginTimed,
      say,
    })
  }
  const last = plan.deepReorg && (await undoDeeply(stage, plan, after))
  const robbed = stage.attackers && (await rob(stage, plan, after))
  for (const each of [life, late]) each.isClosed = true
  await calm(stage)
  say(`faults are over after ${seconds(started)} s; waiting for every swap to end`)
  const calmAt = Date.now()
  const passing = plan.shape ? passTime(stage, life) : plan.isGate ? passWaits(stage, life) : undefined
  const clients = Promise.all([first.ended, more?.ended, last?.ended, robbed?.ended])
  await untilQuiet(stage, clients, plan.drainSeconds * 1_000)
  for (const each of [life, late]) each.isOver = true
  stage.state.isOver = true
  await clients
  await passing
  progress.stop()
  const quietMs = Date.now() - calmAt
  say(`quiet ${(quietMs / 1_000).toFixed(1)} s after the last fault`)
  if (!plan.isGate) {
    await passSweep(stage, plan)
    say(`all markers were old after ${seconds(started)} s`)
  }
  // The data must not change while the checker reads it, even if something did not come to rest.
  await stage.processes.stop()
  await delay(AFTERMATH_MS)
  stage.heads.stop()
  await writeFacts(stage, plan, { calmAt, quietMs })
  return { stop: stage.stop }
}

/** Finality takes minutes: the clocks of all chains are advanced together until all is at rest. */
async function passTime({ field }: Stage, life: Life): Promise<void> {
  const calm = Date.now() + CALM_MS
  while (!life.isOver && Date.now() < calm) await delay(LOOK_MS)
  while (!life.isOver) {
    await lapse(field, LAPSE_SECONDS)
    await delay(LAPSE_EVERY_MS)
  }
}

/** Time passes when nothing else moves: what is left waits for a deadline, which is far off on a slow machine. */
async function passWaits({ field: { world, solana, chainNames }, pool }: Stage, life: Life): Promise<void> {
  let stillness = createStillness(WAITS_MS)
  for (; !life.isOver; await delay(LOOK_MS)) {
    if (!stillness.isStill([await countSteps(pool)])) continue
    await Promise.all(chainNames.map((name) => world.chainNamed(name).advance(WAITED_SECONDS)))
    await solana.dev.dev_advanceClock(WAITED_SECONDS).send()
    stillness = createStillness(WAITS_MS)
  }
}

/** Closed: no client starts. Over: no client waits. */
type Life = { isClosed: boolean; isOver: boolean }
/** The clients that are in it now, of several groups. */
type Room = { taken: number }
type Begin = { clients: readonly ClientPlan[]; ledger: Ledger; life: Life; room?: Room }

/** Starts these clients, each at its time and when there is room for it. */
function begin(stage: Stage, plan: Plan, { clients, ledger, life, room = { taken: 0 } }: Begin): Begun {
  const started = Date.now()
  const { world, solana, processes } = stage
  const { opAddresses } = stage.field
  const isOver = () => life.isOver
  let waiting = clients.length
  const enter = async (client: ClientPlan) => {
    const party = stage.parties.get(client.id)
    if (!party) throw new Error(`Client ${client.id} has no wallet`)
    await delay(started + client.at - Date.now())
    const isFull = () => room.taken >= (plan.atOnce ?? clients.length) || stage.field.admission.isClosed
    while (isFull() && !life.isClosed) await delay(LOOK_MS)
    waiting -= 1
    if (life.isClosed) return
    room.taken += 1
    const random = createRandom(plan.seed + 1_000 + client.id)
    const access = { id: client.id, apiUrls: processes.apiUrls, ledger, random, isOver }
    const caller = createCaller({ ...access, apiKey: stage.apiKey })
    const stranger = createCaller({ ...access, id: -1, apiKey: stage.strangerKey })
    const onOpAddress = (chain: EvmChainName, address: Address) => void opAddresses.set(address, chain)
    await live({ world, solana, caller, stranger, random, onOpAddress, isOver }, party)
    room.taken -= 1
  }
  return { areAllIn: () => waiting === 0, ended: Promise.all(clients.map(enter)) }
}

type Faults = Omit<Begin, 'clients'> & { say(line: string): void; first: Begun }

/**
 * The whole plan; then, with the reserve clients, the conditions for events that were not seen often enough.
 */
async function causeAllFaults(
  stage: Stage,
  plan: Plan,
  { first, ...how }: Faults,
): Promise<Begun | undefined> {
  await rageFor(stage, plan, plan.seconds)
  if (plan.deepReorg || plan.reserve.length === 0 || (await isAllSeen(stage, plan))) return undefined
  how.say('not everything was seen often enough yet: going on')
  const more = begin(stage, plan, { ...how, clients: plan.reserve })
  const allEnded = Promise.allSettled([first.ended, more.ended])
  // Without clients nothing more can be seen.
  await directUntilSeen(stage, plan, allEnded)
  return more
}

async function calm({ state, processes, field }: Stage): Promise<void> {
  state.isFair = true
  processes.calm()
  await endFaults(field)
}

/**
 * After all other faults, a chain reverts more than its reorg window. Swaps that were paid by then lose their
 * inputs, and no other fault interferes.
 */
async function undoDeeply(
  stage: Stage,
  plan: Plan,
  { say, first, ...how }: Faults,
): Promise<Begun | undefined> {
  const { deepReorg } = plan
  if (!deepReorg) return undefined
  await calm(stage)
  await untilIn(first)
  await untilTaken(stage.field, BACKLOG_MS)
  say(`${deepReorg.chain} is about to undo more than its reorg window`)
  let begun: Begun | undefined
  const wait = async () => {
    begun = begin(stage, plan, { ...how, clients: plan.reserve })
    const paid = Promise.all([begun.ended, delay(deepReorg.leastMs)])
    await Promise.race([paid, delay(deepReorg.mostMs)])
  }
  await causeFault({ ...stage.field, wait }, { at: 0, ...deepReorg })
  return begun
}

async function untilIn({ areAllIn }: Begun): Promise<void> {
  for (const end = Date.now() + BACKLOG_MS; !areAllIn() && Date.now() < end; ) await delay(LOOK_MS)
}

/** After all other faults: attackers take what their keys allow, while swaps go on. */
async function rob(stage: Stage, plan: Plan, { say, ...how }: Faults): Promise<Begun> {
  await calm(stage)
  say('attackers act, each with one key')
  const begun = begin(
    stage,
    { ...plan, atOnce: Number.POSITIVE_INFINITY },
    { ...how, clients: plan.victims ?? [] },
  )
  await stage.attackers?.rob(ROB_MS)
  return begun
}

async function directUntilSeen(stage: Stage, plan: Plan, over: Promise<unknown>): Promise<void> {
  const deadline = Date.now() + MOST_MORE_MS
  const counts = stage.processes.crashes
  const isSeen = (...points: FailPoint[]) => points.every((point) => (counts.get(point) ?? 0) >= plan.crashes)
  let isDone = false
  const isOver = () => isDone || Date.now() > deadline
  const end = () => {
    isDone = true
  }
  void over.then(end)
  const look = async () => {
    while (!isOver()) {
      if (await isAllSeen(stage, plan)) end()
      await delay(LOOK_MS)
    }
  }
  const direction = { field: stage.field, isOver, isSeen, isLong: true, jumpSeconds: JUMP_SECONDS }
  await Promise.all([look(), direct(direction)])
}

async function rageFor(stage: Stage, plan: Plan, seconds: number): Promise<void> {
  const stop = new AbortController()
  setMaxListeners(0, stop.signal)
  const causing = causeFaults(stage.field, plan.events, stop.signal)
  await delay(seconds * 1_000)
  stop.abort()
  await causing
}

async function isAllSeen({ processes, pool }: Stage, plan: Plan): Promise<boolean> {
  if (findUnreached({ processes }, plan).length > 0) return false
  const moves = await pool
    .query<{ move: string; count: number }>(
      `select was || ' ' || became as move, count(*)::int from chaos_moves where was is not null group by 1`,
    )
    .catch(() => ({ rows: [] }))
  const seen = new Map(moves.rows.map(({ move, count }) => [move, count]))
  return MOVES.every((move) => (seen.get(move) ?? 0) >= plan.least)
}

const seconds = (since: number) => ((Date.now() - since) / 1_000).toFixed(0)

const OPEN = `select count(*)::int as open from swaps where state not in (${OVER.map((state) => `'${state}'`)})`

/**
 * Nothing is left to do: clients and swaps have ended, funds are final, and no op's own address holds anything. Ends
 * early when nothing moves any more, or everything without end.
 */
async function untilQuiet(stage: Stage, clients: Promise<unknown>, stillMs: number): Promise<void> {
  let haveEnded = false
  void clients.then(() => {
    haveEnded = true
  })
  const stillness = createStillness(stillMs)
  const latest = Date.now() + MOST_STILLS * stillMs
  while (Date.now() < latest && !stillness.isStill([haveEnded, await countSteps(stage.pool)])) {
    const open = await stage.pool.query<{ open: number }>(OPEN).then(
      ({ rows }) => rows[0]?.open,
      () => undefined,
    )
    if (haveEnded && open === 0 && (await areAddressesEmpty(stage))) return
    await delay(LOOK_MS)
  }
}

async function areAddressesEmpty({ world, field: { opAddresses } }: Stage): Promise<boolean> {
  for (const [address, name] of opAddresses) {
    const chain = world.chainNamed(name)
    const held = ['USDC', 'ETH'].map((symbol) => chain.balanceOf(address, symbol))
    if ((await Promise.all(held)).some((amount) => amount > 0n)) return false
    opAddresses.delete(address)
  }
  return true
}

// More would hide the rest of the line.
const NAMED = 12

function reportProgress({ pool, processes }: Stage, plan: Plan, say: (line: string) => void) {
  const started = Date.now()
  const report = async () => {
    const { rows } = await pool
      .query<{ state: string; count: string }>('select state, count(*) from swaps group by 1 order by 1')
      .catch(() => ({ rows: [] }))
    const states = rows.map(({ state, count }) => `${state} ${count}`).join(', ')
    const unreached = findUnreached({ processes }, plan)
    const points =
      unreached.length > NAMED ? `${unreached.length} fail-points` : unreached.join(', ') || 'no fail-point'
    say(`${seconds(started)} s: ${states || 'the database is down'}; waits for ${points}`)
  }
  const timer = setInterval(() => void report(), 5_000)
  return { stop: () => clearInterval(timer) }
}

async function writeFacts(
  { processes, proxies, dir }: Stage,
  plan: Plan,
  times: { calmAt: number; quietMs: number },
) {
  const requests: Record<string, number> = {}
  for (const proxy of proxies.values())
    for (const [fault, count] of proxy.counts) requests[fault] = (requests[fault] ?? 0) + count
  const crashes = Object.fromEntries(processes.crashes)
  const { least, isGate, shape } = plan
  const hasAttackers = (plan.victims?.length ?? 0) > 0
  const hasCrowd = plan.crowd !== undefined
  writeFileSync(
    join(dir, 'facts.json'),
    JSON.stringify({ ...times, crashes, requests, least, isGate, hasAttackers, hasCrowd, shape }),
  )
}
