import { type Env, type Output, runCommand, terminal } from './command.ts'
import { composeApi } from './compose/api.ts'
import { composeAttester } from './compose/attester.ts'
import { composeWorker } from './compose/worker.ts'
import { loadConfig } from './config/load.ts'
import { required } from './config/secrets.ts'
import { armFailPoints } from './fail-point.ts'
import { listen } from './http/server.ts'
import { createLogger, type Logger } from './observe/logger.ts'
import { runAll } from './operate/all.ts'
import { CHECK_CONFIG_HELP, checkConfig } from './operate/check-config.ts'
import { DEPLOY_HELP, deploy } from './operate/deploy.ts'
import { INIT_HELP, init } from './operate/init.ts'
import { INVENTORY_HELP, inventory } from './operate/inventory/inventory.ts'
import { KEYS_HELP, keys } from './operate/keys.ts'
import { REBUILD_HELP, rebuildDatabase } from './operate/rebuild.ts'
import { listStops, pause, resume, STOPS_HELP } from './operate/stops.ts'
import { inspectSwaps, SWAPS_HELP } from './operate/swaps.ts'
import { createPool } from './store/db.ts'
import { migrate } from './store/migrate.ts'

const USAGE = `geoswap service

  service migrate    bring the database to this version
  service api        serve the HTTP interface
  service worker     lock, deliver, claim and refund
  service attester   verify outcomes on its own nodes and sign them
  service all        the three together, each in a process of its own that gets only its own secrets

  service ${INIT_HELP}
  service ${CHECK_CONFIG_HELP}
  service ${DEPLOY_HELP}
  service ${KEYS_HELP}
  service ${STOPS_HELP}
  service ${SWAPS_HELP}
  service ${REBUILD_HELP}
  service ${INVENTORY_HELP}

Settings: GEOSWAP_CONFIG (JSON file of chains and assets), DATABASE_URL, and by role PORT, HOST,
GEOSWAP_SEAL_KEYS (api), GEOSWAP_RELAYER_KEYS and GEOSWAP_DELIVERER_KEYS (worker), GEOSWAP_ATTESTER_KEY (attester);
with a Solana chain also GEOSWAP_MARKER_KEY (all three) and GEOSWAP_SOLANA_KEYS (worker).
Each secret may also be in a file: NAME_FILE names it. Keys may be in a keystore instead: GEOSWAP_KEYSTORE is its
folder, GEOSWAP_KEYSTORE_PASSPHRASE opens it, and each process opens only the keys of its own role.
`

type Running = { close(): Promise<void> }

async function runMigrate(): Promise<void> {
  const problems: string[] = []
  const url = required(process.env, 'DATABASE_URL', problems)
  if (problems.length > 0) throw new Error(problems.join('\n'))
  const pool = createPool(url)
  const applied = await migrate(pool)
  await pool.end()
  process.stdout.write(applied.length > 0 ? `applied ${applied.join(', ')}\n` : 'nothing to apply\n')
}

async function runApi(logger: Logger): Promise<Running> {
  const config = loadConfig(process.env, 'api')
  const api = await composeApi(config, logger)
  const url = await listen(api.app, { port: config.port, host: config.host })
  if (api.operator) {
    const { port, host } = config.operator
    logger.info({ url: await listen(api.operator, { port, host }) }, 'operator api ready')
  }
  logger.info({ url }, 'api ready')
  return api
}

async function runWorker(logger: Logger): Promise<Running> {
  const worker = await composeWorker(loadConfig(process.env, 'worker'), logger)
  await worker.start()
  logger.info('worker ready')
  return worker
}

async function runAttester(logger: Logger): Promise<Running> {
  const attester = await composeAttester(loadConfig(process.env, 'attester'), logger)
  await attester.start()
  logger.info('attester ready')
  return attester
}

// Of the ten seconds that a supervisor gives. What a silent node holds up is left as it is: a worker may be killed at
// any point, and its lanes are taken over when their leases are over.
const DRAIN_MS = 9_000

/** The first signal drains, a second one ends at once. */
function stopOnSignal(running: Running, logger: Logger): void {
  let stopping = false
  const stop = async () => {
    if (stopping) process.exit(1)
    stopping = true
    setTimeout(() => {
      logger.warn('not drained in time')
      logger.flush(() => process.exit(0))
    }, DRAIN_MS)
    await running.close().catch((err: unknown) => logger.error({ err }, 'close failed'))
    logger.flush(() => process.exit(0))
  }
  process.on('SIGTERM', () => void stop())
  process.on('SIGINT', () => void stop())
}

const roles = { api: runApi, worker: runWorker, attester: runAttester }
const commands: Record<string, (args: string[], env: Env, output: Output) => Promise<number>> = {
  init: (args, _env, output) => init(args, output),
  'check-config': checkConfig,
  deploy,
  inventory,
  keys,
  pause,
  resume,
  stops: listStops,
  swaps: inspectSwaps,
  rebuild: rebuildDatabase,
}

async function main([name, ...args]: string[]): Promise<void> {
  if (name === 'migrate') return runMigrate()
  if (name === 'all') process.exit(await runAll(process.env))
  const command = name === undefined ? undefined : commands[name]
  if (command) {
    process.exitCode = await runCommand(terminal, () => command(args, process.env, terminal))
    return
  }
  const run = roles[name as keyof typeof roles]
  if (!name || !run) {
    process.stderr.write(USAGE)
    process.exitCode = name === undefined || name === '--help' ? 0 : 1
    return
  }
  const crashAt = process.env['GEOSWAP_CRASH_AT']
  if (crashAt) armFailPoints(crashAt)
  const logger = createLogger({ name, level: process.env['LOG_LEVEL'] ?? 'info' })
  stopOnSignal(await run(logger), logger)
}

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
  process.exit(1)
})
