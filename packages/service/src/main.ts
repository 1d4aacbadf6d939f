import { composeApi } from './compose/api.ts'
import { composeAttester } from './compose/attester.ts'
import { composeWorker } from './compose/worker.ts'
import { loadConfig } from './config.ts'
import { armFailPoints } from './fail-point.ts'
import { listen } from './http/server.ts'
import { createLogger, type Logger } from './observe/logger.ts'
import { createPool } from './store/db.ts'
import { migrate } from './store/migrate.ts'

const USAGE = `geoswap service

  service migrate    bring the database to this version
  service api        serve the HTTP interface
  service worker     lock, deliver, claim and refund
  service attester   verify outcomes on its own nodes and sign them

Settings: GEOSWAP_CONFIG (JSON file of chains and assets), DATABASE_URL, and by role PORT, HOST,
GEOSWAP_SEAL_KEYS (api), GEOSWAP_RELAYER_KEYS and GEOSWAP_DELIVERER_KEYS (worker), GEOSWAP_ATTESTER_KEY (attester);
with a Solana chain also GEOSWAP_MARKER_KEY (all three) and GEOSWAP_SOLANA_KEYS (worker).
`

type Running = { close(): Promise<void> }

async function runMigrate(): Promise<void> {
  const url = process.env['DATABASE_URL']
  if (!url) throw new Error('DATABASE_URL is not set')
  const pool = createPool(url)
  const applied = await migrate(pool)
  await pool.end()
  process.stdout.write(applied.length > 0 ? `applied ${applied.join(', ')}\n` : 'nothing to apply\n')
}

async function runApi(logger: Logger): Promise<Running> {
  const config = loadConfig(process.env, 'api')
  const api = await composeApi(config, logger)
  const url = await listen(api.app, { port: config.port, host: config.host })
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

/** The first signal drains, a second one ends at once. */
function stopOnSignal(running: Running, logger: Logger): void {
  let stopping = false
  const stop = async () => {
    if (stopping) process.exit(1)
    stopping = true
    await running.close().catch((err: unknown) => logger.error({ err }, 'close failed'))
    logger.flush(() => process.exit(0))
  }
  process.on('SIGTERM', () => void stop())
  process.on('SIGINT', () => void stop())
}

async function main(role: string | undefined): Promise<void> {
  if (role === 'migrate') return runMigrate()
  const roles = { api: runApi, worker: runWorker, attester: runAttester }
  const run = roles[role as keyof typeof roles]
  if (!role || !run) {
    process.stderr.write(USAGE)
    process.exitCode = role === undefined || role === '--help' ? 0 : 1
    return
  }
  const crashAt = process.env['GEOSWAP_CRASH_AT']
  if (crashAt) armFailPoints(crashAt)
  const logger = createLogger({ name: role, level: process.env['LOG_LEVEL'] ?? 'info' })
  stopOnSignal(await run(logger), logger)
}

main(process.argv[2]).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
  process.exit(1)
})
