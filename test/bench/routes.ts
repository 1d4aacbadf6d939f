import { type BlockTimes, listenToBlocks } from './block-times.ts'
import { delay } from './clock.ts'
import { type Figure, isTrue } from './figures.ts'
import { createSwapper, type Route, type RouteSwap, type Swapper, swapOnce } from './route-swaps.ts'
import type { Shaped } from './shaped.ts'
import { median, percentile } from './statistics.ts'

type Goal = Route & {
  p50: number
  p95: number
  /** The depth in blocks that an input of this value needs. */
  depth: number
}

const ROUTES: readonly Goal[] = [
  { name: 'base-arbitrum', from: 'base', to: 'arbitrum', usd: 50n, p50: 2.5, p95: 4, depth: 1 },
  { name: 'arbitrum-base', from: 'arbitrum', to: 'base', usd: 50n, p50: 2.5, p95: 4, depth: 1 },
  { name: 'base-solana', from: 'base', to: 'solana', usd: 50n, p50: 3.5, p95: 5, depth: 1 },
  { name: 'solana-base', from: 'solana', to: 'base', usd: 50n, p50: 3.5, p95: 5, depth: 1 },
  { name: 'base-ethereum', from: 'base', to: 'ethereum', usd: 50n, p50: 10, p95: 17, depth: 1 },
  { name: 'ethereum-base', from: 'ethereum', to: 'base', usd: 50n, p50: 10, p95: 17, depth: 1 },
  { name: 'ethereum-base-500', from: 'ethereum', to: 'base', usd: 500n, p50: 22, p95: 29, depth: 2 },
]
export const ROUTE_NAMES = ROUTES.map(({ name }) => name)
const KEPT_SHARE = 0.8
// A lagging backend does not know yet that a wallet was delegated.
const LAGGING_BLOCKS = 4

type Choice = { names: readonly string[]; swaps: number }

/**
 * Swaps one after the other on each route, from the answer to submit until a held read reports `settled`.
 * Routes of Ethereum are slow, so they run beside the others; every chain then serves other swaps too, as in
 * production.
 */
export async function measureRoutes(shaped: Shaped, { names, swaps }: Choice): Promise<Figure[]> {
  const routes = ROUTES.filter(({ name }) => names.length === 0 || names.includes(name))
  const swappers = await createSwappers(shaped, routes, swaps)
  const blocks = await listenToBlocks(shaped)
  const touchesEthereum = ({ from, to }: Goal) => from === 'ethereum' || to === 'ethereum'
  const fast = routes.filter((route) => !touchesEthereum(route))
  const measure = (route: Goal) =>
    measureRoute(shaped, { route, swapper: getSwapper(swappers, route), swaps, blocks })
  const inTurn = async () => {
    const figures: Figure[] = []
    for (const route of fast) figures.push(...(await measure(route)))
    return figures
  }
  const measured = await Promise.all([inTurn(), ...routes.filter(touchesEthereum).map(measure)])
  await blocks.stop()
  return measured.flat()
}

function getSwapper(swappers: ReadonlyMap<string, Swapper>, { name }: Route): Swapper {
  const swapper = swappers.get(name)
  if (!swapper) throw new Error(`Nobody swaps on ${name}`)
  return swapper
}

async function createSwappers(
  shaped: Shaped,
  routes: readonly Goal[],
  swaps: number,
): Promise<Map<string, Swapper>> {
  const { controls, say } = shaped
  say(`funding a wallet for each of ${routes.length} routes and swapping once with each`)
  const chains = shaped.world.chains.map(({ name }) => name)
  // The build follows the funding of its wallet at once.
  for (const chain of chains) await controls.setBackendLag(chain, 0)
  const swappers = await Promise.all(
    routes.map(async (route) => {
      const swapper = await createSwapper(shaped, route, swaps)
      const { status } = await swapOnce(shaped, swapper)
      if (status.status !== 'settled') throw new Error(`${route.name}: a first swap ended ${status.status}`)
      return [route.name, swapper] as const
    }),
  )
  await delay(Math.max(...routes.map((route) => LAGGING_BLOCKS * slowestBlockMs(shaped, route))))
  for (const chain of chains) await controls.setBackendLag(chain, null)
  return new Map(swappers)
}

type Measuring = { route: Goal; swapper: Swapper; swaps: number; blocks: BlockTimes }

async function measureRoute(shaped: Shaped, measuring: Measuring): Promise<Figure[]> {
  const { route, swapper, swaps, blocks } = measuring
  const timed: RouteSwap[] = []
  const added: Added[] = []
  for (let count = 0; count < swaps; count += 1) {
    await delay(pauseMs(shaped, route, count))
    const swap = await swapOnce(shaped, swapper)
    timed.push(swap)
    added.push(await addedTo(shaped, { route, swap, blocks }))
    shaped.say(`${route.name} ${describe(swap, added.at(-1))}`)
  }
  const baseline = `finality ${await finalityOf(shaped, route)}`
  return [...timeFigures(route, timed, baseline), addedFigure(added)]
}

const GOLDEN_RATIO = 0.618

/**
 * A swap ends with a block. Without a pause the next one would always start right after it and wait longest.
 */
function pauseMs(shaped: Shaped, route: Route, count: number): number {
  return ((count * GOLDEN_RATIO) % 1) * slowestBlockMs(shaped, route)
}

function slowestBlockMs({ network }: Shaped, { from, to }: Route): number {
  const ends = network.local.chains.filter(({ name }) => name === from || name === to)
  return Math.max(...ends.map(({ shape }) => shape?.blockMs ?? 0))
}

function timeFigures(route: Goal, timed: readonly RouteSwap[], baseline: string): Figure[] {
  const settled = timed.filter(({ status }) => status.status === 'settled')
  const seconds = settled.map(({ tookMs }) => tookMs / 1_000)
  const [p50, p95] = [median(seconds), percentile(seconds, 0.95)]
  const kept = settled.filter(({ tookMs, etaSeconds }) => tookMs <= etaSeconds * 1_000).length
  const etas = [...new Set(timed.map(({ etaSeconds }) => etaSeconds))].sort((a, b) => a - b)
  return [
    {
      name: `${route.name}, ${route.usd} USD: p50 / p95 of ${settled.length} settled of ${timed.length}`,
      measured: `${p50.toFixed(2)} / ${p95.toFixed(2)} s`,
      baseline,
      goal: `< ${route.p50} / ${route.p95} s`,
      ok: settled.length === timed.length && p50 < route.p50 && p95 < route.p95,
    },
    isTrue(`· kept their etaSeconds (${etas.join(', ')})`, {
      ok: kept >= KEPT_SHARE * timed.length,
      measured: `${kept} of ${timed.length}`,
      goal: '8 of 10',
    }),
  ]
}

const PARTS = ['submit to lock', 'block to locked', 'locked to delivery', 'block to answer'] as const
type Added = Record<(typeof PARTS)[number], number>
type TimedSwap = { route: Goal; swap: RouteSwap; blocks: BlockTimes }

/** The service's own milliseconds, without the blocks; NaN if the block was not observed. */
async function addedTo({ world }: Shaped, { route, swap, blocks }: TimedSwap): Promise<Added> {
  const { timeline, originTxHash, deliveryTxHash } = swap.status
  const atStage = (name: string) => Date.parse(timeline.find(({ stage }) => stage === name)?.at ?? '')
  const blockAt = async (chain: string, hash: string | undefined, depth: number) => {
    if (chain === 'solana' || !hash) return Number.NaN
    const found = world.chainNamed(chain).client.getTransactionReceipt({ hash: hash as `0x${string}` })
    return blocks.at(chain, (await found).blockNumber + BigInt(depth - 1)) ?? Number.NaN
  }
  return {
    'submit to lock': atStage('locking') - atStage('accepted'),
    'block to locked': atStage('locked') - (await blockAt(route.from, originTxHash, route.depth)),
    'locked to delivery': atStage('delivering') - atStage('locked'),
    'block to answer': atStage('delivered') - (await blockAt(route.to, deliveryTxHash, 1)),
  }
}

function addedFigure(added: readonly Added[]): Figure {
  const parts = PARTS.map((part) => {
    const known = added.map((each) => each[part]).filter((value) => !Number.isNaN(value))
    const [p50, p95] = [median(known), percentile(known, 0.95)]
    return known.length > 0 ? `${part} ${Math.round(p50)}/${Math.round(p95)}` : ''
  })
  const measured = parts.filter((part) => part !== '').join(', ')
  return { name: '· by the service, ms', measured, baseline: '' }
}

function describe({ tookMs, etaSeconds, status }: RouteSwap, added: Added | undefined): string {
  const parts = PARTS.map((part) => `${part} ${Math.round(added?.[part] ?? Number.NaN)}`)
  return `${(tookMs / 1_000).toFixed(2)} s (eta ${etaSeconds}, ${status.status}): ${parts.join(', ')}`
}

/** Minutes between the final block and the newest one. */
async function finalityOf({ world, solana }: Shaped, { from, to }: Route): Promise<string> {
  const minutes = async (chain: string): Promise<string> => {
    if (chain === 'solana') {
      const [newest, final] = await Promise.all([
        solana.rpc.getSlot({ commitment: 'processed' }).send(),
        solana.rpc.getSlot({ commitment: 'finalized' }).send(),
      ])
      return `solana ${newest - final} slots`
    }
    const { client } = world.chainNamed(chain)
    const timeOf = async (blockTag: 'latest' | 'finalized') =>
      Number((await client.getBlock({ blockTag })).timestamp)
    return `${chain} ${(((await timeOf('latest')) - (await timeOf('finalized'))) / 60).toFixed(0)} min`
  }
  return `${await minutes(from)}, ${await minutes(to)}`
}
