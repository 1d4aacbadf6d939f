import { randomInt } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { measureAdded } from './added.ts'
import { measureBurst } from './burst.ts'
import { measureCalls } from './calls.ts'
import { type Figure, toTable } from './figures.ts'
import { measureGrowth } from './growth.ts'
import { describeMachine } from './machine.ts'
import { type Bench, startBench } from './network.ts'
import { measurePolls } from './polls.ts'
import { checkQuotes } from './quotes.ts'
import { measureScale } from './scale.ts'
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
  polls    5,000 held status reads in one process, and what other calls feel of them
  growth   submit, status and history with a million swaps in the database, against an empty one
  calls    calls to nodes by process, chain and method: with nothing to do, and for a swap beyond that
  scale    quotes and swaps per second with 1, 2 and 4 processes of the API and of the worker

  --strict           end with 1 when a goal is missed
  --seed NUMBER      of everything random; without it another one each time
  --block-ms NUMBER  time between blocks of the EVM chains; 1000 without it
  --hard NUMBER      blocks until one is final on the EVM chains; with it only idle calls can be counted
  --profile FOLDER   write a CPU profile of every process of the network there
`

const sections: Record<string, (bench: Bench) => Promise<Figure[]>> = {
  quote: measureThroughput,
  quotes: checkQuotes,
  submit: measureSubmit,
  added: measureAdded,
  burst: measureBurst,
  solana: measureSolana,
  polls: measurePolls,
  growth: measureGrowth,
  calls: measureCalls,
  scale: measureScale,
}

const startedAt = Date.now()

function say(line: string): void {
  console.error(`${((Date.now() - startedAt) / 1_000).toFixed(1).padStart(6)} s  ${line}`)
}

type Choices = { profile: string | undefined; seed: number; blockMs?: number; hard?: number }

async function run(names: readonly string[], { profile, ...choices }: Choices): Promise<Figure[]> {
  const profileDir = profile && resolve(profile)
  if (profileDir) mkdirSync(profileDir, { recursive: true })
  const bench = await startBench({ say, ...choices, ...(profileDir && { profileDir }) })
  process.once('SIGINT', () => void bench.stop().then(() => process.exit(130)))
  const figures: Figure[] = []
  try {
    for (const name of names) {
      say(`── ${name} (${describeMachine()})`)
      figures.push(...((await sections[name]?.(bench)) ?? []))
    }
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
    'block-ms': { type: 'string' },
    hard: { type: 'string' },
  },
})
const unknown = positionals.filter((name) => !Object.hasOwn(sections, name))
if (values.help || unknown.length > 0) {
  console.log(unknown.length > 0 ? `Unknown: ${unknown.join(', ')}\n\n${HELP}` : HELP)
  process.exit(unknown.length > 0 ? 2 : 0)
}
const seed = values.seed === undefined ? randomInt(2 ** 32) : Number(values.seed)
const names = positionals.length > 0 ? positionals : Object.keys(sections)
const { 'block-ms': blockMs, hard } = values
const figures = await run(names, {
  profile: values.profile,
  seed,
  ...(blockMs !== undefined && { blockMs: Number(blockMs) }),
  ...(hard !== undefined && { hard: Number(hard) }),
})
console.log(`\n${describeMachine()}\n\n${toTable(figures)}`)
const missed = figures.filter(({ ok }) => ok === false)
process.exit(values.strict && missed.length > 0 ? 1 : 0)
