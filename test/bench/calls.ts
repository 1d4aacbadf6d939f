import { idleCallsOf } from '../../packages/service/src/operate/idle-calls.ts'
import { groupBy } from '../../packages/service/src/swap/group.ts'
import type { Metered } from '../shape/controls.ts'
import { delay, now } from './clock.ts'
import type { Figure } from './figures.ts'
import { createSwapper, type Route, type Swapper, swapOnce } from './route-swaps.ts'
import type { Shaped } from './shaped.ts'

// The service polls a chain often for a minute after a swap, and looks at each key again after its start.
const QUIET_MS = 70_000
const IDLE_MS = 60_000
// Solana is final after 13 seconds, and its books are read some readings longer.
const AFTER_MS = 40_000
const AGENTS = 10
const SWAPS = 5
const SWAP_GOAL = 8
// Per second.
const GOALS = { oneNode: { evm: 2, solana: 3 }, recommended: { evm: 2.5, solana: 3.5 } }

/** The processes and nodes that docs/operations recommends. */
export const RECOMMENDED = { api: 2, workers: 2, attesters: 3, threshold: 2, nodes: 2 }

const ROUTES: readonly Route[] = [
  { name: 'base-arbitrum', from: 'base', to: 'arbitrum', usd: 50n },
  { name: 'base-solana', from: 'base', to: 'solana', usd: 50n },
  { name: 'solana-base', from: 'solana', to: 'base', usd: 50n },
]

type Idle = { figures: Figure[]; perSecond: number }

/** Counts the calls of all processes while idle. */
export async function countIdleCalls(shaped: Shaped): Promise<Figure[]> {
  return (await countIdle(shaped, GOALS.recommended)).figures
}

/** Counts idle calls, and the additional calls of a swap: with its quote and build until it is settled, and later. */
export async function countCalls(shaped: Shaped): Promise<Figure[]> {
  const { controls, say, world } = shaped
  for (const { name } of world.chains) await controls.setBackendLag(name, 0)
  const groups = []
  // All agents of all routes at once would meet the limit of calls per second.
  for (const route of ROUTES) groups.push(await createAgents(shaped, route))
  for (const { name } of world.chains) await controls.setBackendLag(name, null)
  const idle = await countIdle(shaped, GOALS.oneNode)
  const figures = [...idle.figures]
  for (const { name, swappers } of groups) {
    say(`${AGENTS} agents swap ${SWAPS} times each on ${name}`)
    const swap = () => Promise.all(swappers.map((swapper) => swapTimes(shaped, swapper, SWAPS)))
    const until = await countWhile(shaped, idle, `on ${name}`, swap)
    figures.push(toFigure(`Calls per swap beyond that, ${name}`, until, SWAP_GOAL))
    // Otherwise they would count as calls of the next route.
    const after = await countWhile(shaped, idle, `after ${name}`, () => delay(AFTER_MS))
    figures.push({
      name: `The same ${AFTER_MS / 1_000} s later, ${name}`,
      measured: after.toFixed(2),
      baseline: '',
    })
  }
  return figures
}

/** The calls per swap while something happens, beyond the idle ones. */
async function countWhile(
  shaped: Shaped,
  idle: Idle,
  what: string,
  happens: () => Promise<unknown>,
): Promise<number> {
  await shaped.controls.resetMeters()
  const began = now()
  await happens()
  const seconds = (now() - began) / 1_000
  const swaps = AGENTS * SWAPS
  const rows = await readService(shaped)
  describe(shaped, rows, swaps, `per swap ${what} in ${seconds.toFixed(0)} s, with what idles`)
  return (total(rows) - idle.perSecond * seconds) / swaps
}

/** The agents of a route. A wallet's first swap delegates it. */
async function createAgents(shaped: Shaped, route: Route): Promise<{ name: string; swappers: Swapper[] }> {
  const swappers = await Promise.all(
    Array.from({ length: AGENTS }, () => createSwapper(shaped, route, SWAPS)),
  )
  await Promise.all(swappers.map((swapper) => swapOnce(shaped, swapper)))
  return { name: route.name, swappers }
}

async function swapTimes(shaped: Shaped, swapper: Swapper, times: number): Promise<void> {
  for (let count = 0; count < times; count += 1) await swapOnce(shaped, swapper)
}

type Goals = Record<'evm' | 'solana', number>

async function countIdle(shaped: Shaped, goals: Goals): Promise<Idle> {
  const { controls, say, network } = shaped
  say(`waiting ${QUIET_MS / 1_000} s for what came before`)
  await delay(QUIET_MS)
  await controls.resetMeters()
  say(`nothing to do for ${IDLE_MS / 1_000} s`)
  await delay(IDLE_MS)
  const rows = await readService(shaped)
  const seconds = IDLE_MS / 1_000
  describe(shaped, rows, seconds, 'per second, idle')
  const figures = network.local.chains.flatMap(({ name, family }) => {
    const own = rows.filter(({ chain }) => chain === name)
    const parts = [...groupBy(own, partOf)].map(([part, some]): Figure => {
      return { name: `· ${part}`, measured: (total(some) / seconds).toFixed(2), baseline: '' }
    })
    const title = `Calls per second, idle, ${name}`
    const measured = toFigure(title, total(own) / seconds, goals[family])
    const isRecorded = goals === GOALS.recommended
    const baseline = isRecorded ? `recorded ${idleCallsOf({ name, family }).perSecond.toFixed(2)}` : ''
    return [{ ...measured, baseline }, ...parts]
  })
  return { figures, perSecond: total(rows) / seconds }
}

/** The kind of process, and the node that it asked. */
function partOf({ client }: Pick<Metered, 'client'>): string {
  const [, kind = 'attester', node = '1'] = /^(?:geoswap-)?([a-z]+)[^#]*(?:#(\d+))?$/.exec(client) ?? []
  return `${kind}, node ${node}`
}

/** Without the calls of tests and of the feeds' keeper. */
async function readService({ controls }: Shaped): Promise<Metered[]> {
  const rows = await controls.readMeters()
  return rows.filter(({ client }) => /^(geoswap-|attester)/.test(client))
}

function toFigure(name: string, value: number, limit: number): Figure {
  return { name, measured: value.toFixed(2), baseline: '', goal: `≤ ${limit}`, ok: value <= limit }
}

const total = (rows: readonly Metered[]) => rows.reduce((sum, { calls }) => sum + calls, 0)

function describe({ say }: Shaped, rows: readonly Metered[], divisor: number, what: string): void {
  say(`${(total(rows) / divisor).toFixed(2)} calls ${what}`)
  const sums = new Map<string, number>()
  for (const { chain, client, method, calls } of rows) {
    const name = `${chain} ${partOf({ client })} ${method}`
    sums.set(name, (sums.get(name) ?? 0) + calls)
  }
  for (const [name, count] of [...sums].sort(([, a], [, b]) => b - a))
    if (count / divisor >= 0.01) say(`  ${(count / divisor).toFixed(2).padStart(6)}  ${name}`)
}
