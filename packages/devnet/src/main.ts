import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { toServiceSecrets } from './keys.ts'
import { type Network, startNetwork } from './network.ts'
import { baseEnvironment, projectRoot } from './node-child.ts'
import { planOf, SHAPES, type Shape } from './plan.ts'

const HELP = `Starts a whole geoswap network on this machine: PostgreSQL, EVM chains, a Solana chain,
contracts, inventory, faucet, API, worker and attester. Ctrl-C stops all of it. Nothing is kept.

npm start -- [options]
  --api N            processes of the API behind one port (default 1)
  --workers N        workers (default 1)
  --attesters N      attesters, each a process with a key of its own, up to 7 (default 1)
  --threshold N      how many attesters have to sign a claim or refund (default: a majority)
  --shape mainnet    chains that behave like Ethereum, Base, Arbitrum and Solana: their block times,
                     finality of many minutes, fees, limits of providers (default local)
  --without-service  everything but API, worker and attester; service.env says how to run those by hand
  --help             this text

Environment
  PORT               port of the API (default 8080, or a free one)
  GEOSWAP_HOME       folder of local.json and logs (default .geoswap in the project)`

type Command = {
  home: string
  port: number | undefined
  api: number
  workers: number
  attesters: number
  threshold: number
  shape: Shape
  service: boolean
}

async function main(): Promise<void> {
  const command = readCommand()
  if (!command) return
  let network: Network | undefined
  let isEnding = false

  // npm and the terminal may both deliver the same signal: only the first one counts.
  async function end(exitCode: number): Promise<void> {
    if (isEnding) return
    isEnding = true
    // Before the network has started, exiting is enough: every child ends with its parent.
    await network?.stop().catch((error: unknown) => console.error(String(error)))
    process.exit(exitCode)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void end(0))
  // The reader of stdout may close it; the network continues.
  process.stdout.on('error', () => {})
  // Present if a wrapper such as tsx started this process; if the wrapper dies, nothing else would stop it.
  process.on('disconnect', () => void end(1))

  try {
    network = await startNetwork({
      ...command,
      usualPorts: true,
      web: true,
      env: baseEnvironment(process.env),
      say: (line) => isEnding || console.log(line),
      onFatal(reason) {
        if (!isEnding) console.error(`The network stops: ${reason}`)
        void end(1)
      },
    })
  } catch (error) {
    if (isEnding) return
    console.error(error instanceof Error ? error.message : String(error))
    return end(1)
  }
  greet(network, command)
}

function readCommand(): Command | undefined {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean', default: false } as const
  const processes = { api: text, workers: text, attesters: text, threshold: text }
  const options = { ...processes, shape: text, 'without-service': flag, help: flag }
  const problems: string[] = []
  const integer = (name: string, value: string | undefined, fallback: number, max: number): number => {
    const parsed = Number(value ?? fallback)
    if (!Number.isInteger(parsed) || parsed < 1 || parsed > max) problems.push(`${name} must be 1..${max}`)
    return parsed
  }
  const shapeNamed = (name: string): Shape => {
    const shape = SHAPES.find((known) => known === name)
    if (!shape) problems.push(`--shape must be ${SHAPES.join(' or ')}`)
    return shape ?? 'local'
  }
  try {
    const { values } = parseArgs({ options })
    if (values.help) {
      console.log(HELP)
      return undefined
    }
    const attesters = integer('--attesters', values.attesters, 1, 7)
    const majority = Math.floor(attesters / 2) + 1
    const command = {
      home: process.env.GEOSWAP_HOME || join(projectRoot, '.geoswap'),
      port: process.env.PORT ? integer('PORT', process.env.PORT, 1, 65_535) : undefined,
      api: integer('--api', values.api, 1, 16),
      workers: integer('--workers', values.workers, 1, 16),
      attesters,
      threshold: integer('--threshold', values.threshold, majority, attesters),
      shape: shapeNamed(values.shape ?? 'local'),
      service: !values['without-service'],
    }
    if (problems.length === 0) return command
  } catch (error) {
    problems.push(error instanceof Error ? error.message : String(error))
  }
  console.error(`${problems.join('\n')}\n\n${HELP}`)
  process.exitCode = 1
  return undefined
}

function greet(network: Network, command: Command): void {
  const { apiUrl, apiKey, operatorUrl } = network.local
  if (!command.service) {
    const file = join(network.home, 'service.env')
    writeFileSync(file, serviceEnv(network), { mode: 0o600 })
    console.log(`everything but the service runs; its environment is in ${file}`)
    return
  }
  // The CLI finds a network without settings only in the default folder.
  const { GEOSWAP_HOME } = process.env
  const where = GEOSWAP_HOME ? `GEOSWAP_HOME=${GEOSWAP_HOME} ` : ''
  const example = planOf(command.shape).example.join(' ')
  console.log(`geoswap ready ${apiUrl} api-key ${apiKey}

A first swap, in a browser: ${apiUrl}/app
Or in a second terminal, in this folder: ${where}npx geoswap swap ${example} --amount 10
API reference: ${apiUrl}/docs${operatorUrl ? `\nOperator dashboard: ${operatorUrl}/app/operate` : ''}`)
}

function serviceEnv({ keys, home, local, databaseUrl, databaseUrls }: Network): string {
  const { api, worker, attester } = toServiceSecrets(keys)
  const variables = {
    DATABASE_URL: databaseUrl,
    GEOSWAP_API_DATABASE_URL: databaseUrls.api,
    GEOSWAP_WORKER_DATABASE_URL: databaseUrls.worker,
    GEOSWAP_ATTESTER_DATABASE_URL: databaseUrls.attester,
    GEOSWAP_CONFIG: join(home, 'service.json'),
    ...api,
    ...worker,
    ...attester,
    PORT: new URL(local.apiUrl).port,
  }
  return Object.entries(variables)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')
}

await main()
