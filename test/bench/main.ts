import { randomInt } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { measureAdded } from './added.ts'
import { measureBurst } from './burst.ts'
import { countCalls, countIdleCalls, RECOMMENDED } from './calls.ts'
import { measureDatabase } from './database.ts'
import { type Figure, toTable } from './figures.ts'
import { measureGrowth } from './growth.ts'
import { simulateInventory } from './inventory.ts'
import { describeMachine } from './machine.ts'
import { type Bench, startBench } from './network.ts'
import { measureOpen } from './open.ts'
import { measurePayments } from './payments.ts'
import { measurePolls } from './polls.ts'
import { measurePriceRisk } from './price-risk.ts'
import { checkQuotes } from './quotes.ts'
import { measureReady } from './ready.ts'
import { measureRoutes, ROUTE_NAMES } from './routes.ts'
import { measureScale } from './scale.ts'
import { measureScreening } from './screening.ts'
import { onShape } from './shaped.ts'
import { measureSolana } from './solana.ts'
import { measureSubmit } from './submit.ts'
import { measureThroughput } from './throughput.ts'

const HELP = `Measures geoswap on a network of its own, next to what this machine can do at all.

  npm run bench [-- SECTION...] [-- --strict] [-- --seed NUMBER] [-- --profile FOLDER]

  quote    calls per second of quotes and status reads, against a bare Fastify route
  quotes   10,000 random quotes: none costs the operator anything, and the bounds that errors name are exact
  submit   from submit's answer until a node has the lock, at 20 swaps per second
  added    what the service adds to a swap beyond the blocks it waits for
  burst    200 swaps of 50 wallets at once: all settle, none twice
  solana   submit-solana until a node has the transaction; 100 swaps each way, all settle, none twice
  screening  what screening by a list and a service adds to a quote over HTTP
  polls    5,000 held status reads in one process, and what other calls feel of them
  growth   submit, status and history with a million swaps in the database, against an empty one
  scale    quotes and swaps per second with some processes of the API and of the worker, and what a swap costs
  database  WAL, room and transactions of a swap, by table and by statement; 500 swaps without --swaps
  routes   seconds from submit to settled between chains that behave like public ones, against their goals
  ready    seconds from the start of a worker until it works, also after kill -9
  idle     calls to nodes on such chains with nothing to do, by process and node, as an operator runs them
  x402     seconds from the first request to settled by one payment, local and on such chains, and of payX402
  calls    calls to nodes on such chains for a swap, beyond those with nothing to do
  price-risk  what the best caller gains by price in an hour, by the service's own rules and a random walk
  inventory   a month of USDC between four chains: swaps that find no liquidity, by price of scarcity
  open     what a head costs on such chains with 50,000 swaps that are delivered and not final, against 50

  --strict           end with 1 when a goal is missed; routes, ready, idle, calls, open and price-risk alone always do
  --routes NAMES     some of ${ROUTE_NAMES.join(', ')}
  --swaps NUMBER     on each route; 20 without it
  --sizes NUMBERS    processes of each in scale; 1,2,4 without it
  --seed NUMBER      of everything random; without it another one each time
  --profile FOLDER   write a CPU profile of every process of the network there
`

const SWAPS_PER_ROUTE = 20

const sections: Record<string, (bench: Bench) => Promise<Figure[]>> = {
  quote: measureThroughput,
  quotes: checkQuotes,
  submit: measureSubmit,
  added: measureAdded,
  burst: measureBurst,
  solana: measureSolana,
  screening: measureScreening,
  polls: measurePolls,
  growth: measureGrowth,
}

const startedAt = Date.now()

function say(line: string): void {
  console.error(`${((Date.now() - startedAt) / 1_000).toFixed(1).padStart(6)} s  ${line}`)
}

type Choices = {
  profile: string | undefined
  seed: number
  routes: readonly string[]
  swaps: number
  sizes: readonly number[]
}

/** Sections that start their own network, or none. */
const shapedSections: Record<string, (choices: Choices) => Promise<Figure[]>> = {
  routes: ({ routes: names, swaps }) => onShape({ say }, (shaped) => measureRoutes(shaped, { names, swaps })),
  ready: () => measureReady({ say }),
  idle: () => onShape({ say, ...RECOMMENDED }, countIdleCalls),
  x402: ({ seed, swaps }) => measurePayments({ say, seed }, swaps),
  calls: () => onShape({ say }, countCalls),
  open: () => onShape({ say }, measureOpen),
  database: ({ swaps }) => measureDatabase({ say }, swaps),
  scale: ({ sizes }) => measureScale({ say }, sizes),
  'price-risk': async ({ seed }) => measurePriceRisk(seed),
  inventory: async ({ seed }) => simulateInventory(seed),
}

async function run(names: readonly string[], choices: Choices): Promise<Figure[]> {
  const figures: Figure[] = []
  const local = names.filter((name) => Object.hasOwn(sections, name))
  if (local.length > 0) figures.push(...(await measure('network', () => runLocal(local, choices))))
  for (const name of names) {
    const section = shapedSections[name]
    if (section) figures.push(...(await measure(name, () => section(choices))))
  }
  return figures
}

/** A section that cannot go on is a figure too: those of the others are printed. */
async function measure(name: string, section: () => Promise<Figure[]>): Promise<Figure[]> {
  say(`── ${name} (${describeMachine()})`)
  return section().catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error)
    return [{ name: `${name}: stopped`, measured: why.split('\n')[0] ?? '', baseline: '', ok: false }]
  })
}

async function runLocal(names: readonly string[], { profile, seed }: Choices): Promise<Figure[]> {
  const profileDir = profile && resolve(profile)
  if (profileDir) mkdirSync(profileDir, { recursive: true })
  const bench = await startBench({ say, seed, ...(profileDir && { profileDir }) })
  process.once('SIGINT', () => void bench.stop().then(() => process.exit(130)))
  const figures: Figure[] = []
  try {
    for (const name of names)
      figures.push(...(await measure(name, async () => (await sections[name]?.(bench)) ?? [])))
  } finally {
    await bench.stop()
  }
  return figures
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    help: { type: 'boolean', short: 'h' },
    strict: { type: 'boolean' },
    seed: { type: 'string' },
    profile: { type: 'string' },
    routes: { type: 'string' },
    swaps: { type: 'string' },
    sizes: { type: 'string' },
  },
})
const all = [...Object.keys(sections), ...Object.keys(shapedSections)]
const routes = values.routes?.split(',') ?? []
const unknown = [
  ...positionals.filter((name) => !all.includes(name)),
  ...routes.filter((name) => !ROUTE_NAMES.includes(name)),
]
if (values.help || unknown.length > 0) {
  console.log(unknown.length > 0 ? `Unknown: ${unknown.join(', ')}\n\n${HELP}` : HELP)
  process.exit(unknown.length > 0 ? 2 : 0)
}
const seed = values.seed === undefined ? randomInt(2 ** 32) : Number(values.seed)
const names = positionals.length > 0 ? positionals : all
const swaps = Number(values.swaps ?? SWAPS_PER_ROUTE)
const sizes = (values.sizes ?? '1,2,4').split(',').map(Number)
const figures = await run(names, { profile: values.profile, seed, routes, swaps, sizes })
console.log(`\n${describeMachine()}\n\n${toTable(figures)}`)
const isStrict = values.strict || names.every((name) => Object.hasOwn(shapedSections, name))
process.exit(isStrict && figures.some(({ ok }) => ok === false) ? 1 : 0)
