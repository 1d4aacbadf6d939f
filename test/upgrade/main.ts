import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createLogins } from '@geoswap/devnet'
import { findFreePort } from '../../packages/devnet/src/ports.ts'
import { createOperator, type Operator } from '../operator.ts'
import { createSolanaWorld } from '../solana-world.ts'
import { createWorld, type LocalNetwork, until } from '../world.ts'
import { type Balancer, createBalancer } from './balancer.ts'
import { type Checkout, checkOut, here } from './checkout.ts'
import {
  type Env,
  migrate,
  type Role,
  type Running,
  readEnv,
  start,
  startNetwork,
  stop,
} from './processes.ts'
import { startTraffic, type Traffic } from './traffic.ts'

const USAGE = `npm run upgrade-test -- --from REF [options]

Starts the version REF with all its processes, migrates its database to this version while wallets swap, replaces one
process after the other by this version, and then goes back the same way. Nobody may notice.

  --from REF     a commit whose configuration file and contracts this version still takes
  --wallets N    wallets on each of three routes, each always with a swap in flight (default 2)
  --swaps N      how many swaps have to end between two replacements (default 6)
  --keep         leaves the folder with the logs behind
`
const DRAIN_SECONDS = 2

const { values } = parseArgs({
  options: {
    from: { type: 'string' },
    wallets: { type: 'string', default: '2' },
    swaps: { type: 'string', default: '6' },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

const started = Date.now()
const say = (line: string) =>
  console.log(`${((Date.now() - started) / 1_000).toFixed(0).padStart(4)} s  ${line}`)

type Slot = { name: string; role: Role; port: number }
type Scene = {
  old: Checkout
  env: Env
  dir: string
  slots: readonly Slot[]
  running: Map<string, Running>
  operator: Operator
}

/** Upgrade consumers before producers, so that no process gets work it does not know. */
const ROLES: readonly Role[] = ['worker', 'worker', 'attester', 'api', 'api']

async function startSlot(
  { env, dir, running }: Scene,
  { name, role, port }: Slot,
  root: string,
): Promise<void> {
  const own = { ...env, PORT: String(port), GEOSWAP_DRAIN_SECONDS: String(DRAIN_SECONDS) }
  running.set(name, await start({ name, role, root, log: join(dir, `${name}.log`), env: own }))
}

/** Replaces one process after the other, with swaps in flight all the time. */
async function replaceAll(
  scene: Scene,
  traffic: Traffic,
  to: { root: string; slots: readonly Slot[] },
): Promise<void> {
  for (const slot of to.slots) {
    const before = traffic.done.length
    const running = scene.running.get(slot.name)
    if (running) await stop(running.child)
    await startSlot(scene, slot, to.root)
    await until(async () => traffic.done.length >= before + Number(values.swaps), 120_000)
    say(`${slot.name} is replaced; ${traffic.done.length} swaps have ended`)
  }
}

async function play(scene: Scene, balancer: Balancer, traffic: Traffic): Promise<string[]> {
  const { old, env, slots, operator } = scene
  await until(async () => traffic.done.length >= Number(values.swaps), 120_000)
  say(`${traffic.done.length} swaps have ended on the old version`)
  say(await migrate(here, env))
  const migrated = traffic.done.length
  await until(async () => traffic.done.length >= migrated + Number(values.swaps), 120_000)
  say(`${traffic.done.length} swaps have ended, still on the old version`)
  await replaceAll(scene, traffic, { root: here, slots })
  say('everything is of this version; and back again')
  await replaceAll(scene, traffic, { root: old.root, slots: slots.toReversed() })
  await traffic.end()
  const open = await until(async () => {
    const rows = await operator.query('select id, state from swaps where state <> $1', ['closed'])
    return rows.length === 0
  }, 90_000).then(
    () => [],
    () =>
      operator.query<{ id: string; state: string }>('select id, state from swaps where state <> $1', [
        'closed',
      ]),
  )
  const stops = await operator.query<{ note: string }>('select note from quote_stops')
  return [
    ...(await traffic.audit()),
    ...balancer.failures,
    ...open.map(({ id, state }) => `${id} is still ${state}`),
    ...stops.map(({ note }) => `quotes were stopped: ${note}`),
    ...slots.flatMap((slot) => errorsOf(scene, slot)),
  ]
}

type Line = { level?: string; msg?: string; err?: { message?: string } }

function linesOf({ dir }: Scene, { name }: Slot): Line[] {
  const lines = readFileSync(join(dir, `${name}.log`), 'utf8')
    .trim()
    .split('\n')
  return lines.map((line) => (line.startsWith('{') ? JSON.parse(line) : { level: 'error', msg: line }))
}

function errorsOf(scene: Scene, slot: Slot): string[] {
  const errors = linesOf(scene, slot).filter(({ level }) => level === 'error' || level === 'fatal')
  return errors.map(({ msg, err }) => `${slot.name} logged: ${msg} ${err?.message ?? ''}`)
}

function sayWarnings(scene: Scene): void {
  const counts = new Map<string, number>()
  for (const slot of scene.slots)
    for (const { level, msg, err } of linesOf(scene, slot)) {
      if (level !== 'warn') continue
      const what = `${slot.role}: ${msg} ${err?.message?.split('\n')[0] ?? ''}`
      counts.set(what, (counts.get(what) ?? 0) + 1)
    }
  for (const [what, count] of counts) say(`warned ${count} times, ${what}`)
}

async function run(dir: string, old: Checkout, cleanUp: (() => Promise<unknown>)[]): Promise<string[]> {
  const home = join(dir, 'network')
  const network: ChildProcess = await startNetwork(old.root, home, await findFreePort())
  cleanUp.push(() => stop(network))
  const { DATABASE_URL: databaseUrl = '', ...rest } = readEnv(home)
  // A version from before the roles uses the owner's URL, and ignores the others.
  const { api, worker, attester } = await createLogins(databaseUrl)
  const urls = { GEOSWAP_API_DATABASE_URL: api, GEOSWAP_WORKER_DATABASE_URL: worker }
  const env = { ...rest, DATABASE_URL: databaseUrl, ...urls, GEOSWAP_ATTESTER_DATABASE_URL: attester }
  const slots = await Promise.all(
    ROLES.map(async (role, index) => ({ name: `${role}-${index + 1}`, role, port: await findFreePort() })),
  )
  const scene = {
    old,
    env,
    dir,
    slots,
    running: new Map<string, Running>(),
    operator: createOperator(databaseUrl),
  }
  cleanUp.push(() => Promise.all([...scene.running.values()].map(({ child }) => stop(child))))
  await migrate(old.root, env)
  for (const slot of slots) await startSlot(scene, slot, old.root)
  say(`the network and ${slots.length} processes of the old version run`)
  const apiUrls = slots.filter(({ role }) => role === 'api').map(({ port }) => `http://127.0.0.1:${port}`)
  const balancer = createBalancer(apiUrls, await scene.operator.createKey())
  cleanUp.push(async () => balancer.stop())
  const world = createWorld(JSON.parse(readFileSync(join(home, 'local.json'), 'utf8')) as LocalNetwork)
  const solana = await createSolanaWorld(world.local)
  const traffic = await startTraffic({ world, solana, api: balancer.api }, Number(values.wallets))
  cleanUp.push(() => traffic.end())
  const problems = await play(scene, balancer, traffic)
  say(`${traffic.done.length} swaps; answers: ${JSON.stringify(Object.fromEntries(balancer.answers))}`)
  sayWarnings(scene)
  return problems
}

async function main(from: string): Promise<boolean> {
  const dir = mkdtempSync(join(tmpdir(), 'geoswap-upgrade-'))
  const cleanUp: (() => Promise<unknown>)[] = []
  let problems: string[] = []
  try {
    const old = await checkOut(from, join(dir, 'old'))
    cleanUp.push(old.remove)
    say(`from ${old.commit}, in ${dir}`)
    problems = await run(dir, old, cleanUp)
  } catch (error) {
    problems.push(error instanceof Error ? error.message : String(error))
  } finally {
    for (const step of cleanUp.reverse()) await step()
  }
  for (const problem of problems) say(`WRONG  ${problem}`)
  say(problems.length === 0 ? 'nobody noticed' : `${problems.length} problems; logs are in ${dir}`)
  if (problems.length === 0 && !values.keep) rmSync(dir, { recursive: true, force: true })
  return problems.length === 0
}

if (values.help || !values.from) {
  console.log(USAGE)
  process.exit(values.help ? 0 : 1)
}
process.exit((await main(values.from)) ? 0 : 1)
