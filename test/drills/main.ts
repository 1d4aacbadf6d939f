import { parseArgs } from 'node:util'
import { type Drill, drills } from './registry.ts'
import { createAccount } from './report.ts'
import { type Stage, setStage } from './stage.ts'

const HELP = `Breaks a network of its own for real, shows what an operator sees of it, and cures it as
docs/operations says.

  npm run drill -- list              the drills, each with its part of the runbook
  npm run drill -- NAME [NAME...]    some of them, one after the other
  npm run drill -- all               every one

  --help    this text

Each starts PostgreSQL, the local chains and the service in a temporary folder, and leaves nothing behind. It needs
nothing of a network that runs already. Ends with 1 when anything was not as the runbook says, with 2 for a name that
there is not.
`

type Result = { name: string; seconds: number; problem?: string }

let stage: Stage | undefined
let isEnding = false

async function endEarly(): Promise<void> {
  if (isEnding) return
  isEnding = true
  await stage?.stop()
  process.exit(130)
}

async function runDrill(name: string, { title, runbook, ...drill }: Drill): Promise<Result> {
  const startedAt = performance.now()
  console.log(`\n── ${name}: ${title}\n   docs/operations/${runbook}`)
  const account = createAccount((line) => console.log(line))
  const problem = await perform(drill, account).then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  )
  const seconds = (performance.now() - startedAt) / 1_000
  console.log(problem === undefined ? '   OK' : `   FAILED: ${problem}`)
  return { name, seconds, ...(problem !== undefined && { problem }) }
}

type Played = Pick<Drill, 'run' | 'stage' | 'fromNothing'>

async function perform(drill: Played, account: ReturnType<typeof createAccount>): Promise<void> {
  if (drill.fromNothing) return drill.fromNothing(account)
  account.does('starts a network and the service on it')
  stage = await setStage(drill.stage ?? {}, () => {})
  try {
    await drill.run?.({ ...stage, ...account })
  } finally {
    await stage.stop()
    stage = undefined
  }
}

function list(): string {
  const width = Math.max(...Object.keys(drills).map((name) => name.length))
  return Object.entries(drills)
    .map(([name, { title, runbook }]) => `${name.padEnd(width)}  ${title}  (docs/operations/${runbook})`)
    .join('\n')
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { help: { type: 'boolean', short: 'h' } },
  })
  const unknown = positionals.filter(
    (name) => !Object.hasOwn(drills, name) && name !== 'list' && name !== 'all',
  )
  if (values.help || positionals.length === 0 || unknown.length > 0) {
    if (unknown.length > 0)
      console.error(`There is no drill ${unknown.join(', ')}: see npm run drill -- list\n`)
    console.log(HELP)
    return values.help ? 0 : 2
  }
  if (positionals.includes('list')) {
    console.log(list())
    return 0
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void endEarly())
  const chosen = Object.entries(drills).filter(
    ([name]) => positionals.includes(name) || positionals.includes('all'),
  )
  const results: Result[] = []
  for (const [name, drill] of chosen) results.push(await runDrill(name, drill))
  console.log('')
  for (const { name, seconds, problem } of results)
    console.log(`${problem === undefined ? 'OK    ' : 'FAILED'}  ${name}  ${seconds.toFixed(0)} s`)
  return results.some(({ problem }) => problem !== undefined) ? 1 : 0
}

process.exitCode = await main()
