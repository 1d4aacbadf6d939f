import { describeError, type Env, type Output, runCommand, terminal } from './command.ts'
import { composeApi } from './compose/api.ts'
import { composeAttester } from './compose/attester.ts'
import { composeWorker } from './compose/worker.ts'
import { loadConfig, loadProcessConfig } from './config/load.ts'
import { readSetting, required } from './config/secrets.ts'
import { armFailPoints } from './fail-point.ts'
import { listen } from './http/server.ts'
import { createLogger, type Logger } from './observe/logger.ts'
import { describeBuild } from './observe/process-metrics.ts'
import { addChain } from './operate/adding/add-chain.ts'
import { addToken } from './operate/adding/add-token.ts'
import { runAll } from './operate/all.ts'
import { runApiKeyCommand } from './operate/api-key.ts'
import { audit } from './operate/audit.ts'
import { showBooks } from './operate/books.ts'
import { checkConfig } from './operate/check-config.ts'
import { deploy } from './operate/deploy.ts'
import { doctor } from './operate/doctor/doctor.ts'
import { fees } from './operate/fees.ts'
import { fund } from './operate/fund.ts'
import { init } from './operate/init.ts'
import { inventory } from './operate/inventory/inventory.ts'
import { keys } from './operate/keys.ts'
import { launch } from './operate/launch.ts'
import { showQuarantine } from './operate/quarantine.ts'
import { rebuildDatabase } from './operate/rebuild.ts'
import { screening } from './operate/screening.ts'
import { sendSigned } from './operate/send-signed.ts'
import { setup } from './operate/setup.ts'
import { listStops, pause, resume } from './operate/stops.ts'
import { inspectSwaps } from './operate/swaps.ts'
import { treasury } from './operate/treasury/treasury.ts'
import { type CommandName, readCommandLine } from './operate/usage.ts'
import { wallets } from './operate/wallets.ts'
import { runWebhookCommand } from './operate/webhook.ts'
import { type Running, stopOnSignal } from './stop-on-signal.ts'
import { createPool } from './store/db.ts'
import { migrate } from './store/migrate.ts'
import { assertSession } from './store/server.ts'

async function runMigrate(): Promise<void> {
  const problems: string[] = []
  const owner = readSetting(process.env, 'GEOSWAP_OWNER_DATABASE_URL', problems)
  const url = owner ?? required(process.env, 'DATABASE_URL', problems)
  if (problems.length > 0) throw new Error(problems.join('\n'))
  // A migration may take longer than other statements.
  const pool = createPool(url, { answerMs: 0 })
  // Its lock belongs to a session.
  await assertSession(pool, false)
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
  const worker = await composeWorker(await loadProcessConfig(process.env, 'worker'), logger)
  await worker.start()
  logger.info('worker ready')
  return worker
}

async function runAttester(logger: Logger): Promise<Running> {
  const attester = await composeAttester(await loadProcessConfig(process.env, 'attester'), logger)
  await attester.start()
  logger.info('attester ready')
  return attester
}

const roles = { api: runApi, worker: runWorker, attester: runAttester }
const commands: Record<CommandName, (args: string[], env: Env, output: Output) => Promise<number>> = {
  setup: (args, _env, output) => setup(args, output),
  init: (args, _env, output) => init(args, output),
  'check-config': checkConfig,
  launch: (args, env, output) => launch(args, env, output, runMigrate),
  'add-token': addToken,
  'add-chain': addChain,
  deploy,
  treasury,
  'send-signed': sendSigned,
  fund,
  doctor,
  inventory,
  fees,
  keys,
  pause,
  resume,
  stops: listStops,
  swaps: inspectSwaps,
  books: showBooks,
  screening,
  audit,
  quarantine: showQuarantine,
  rebuild: rebuildDatabase,
  'api-key': runApiKeyCommand,
  wallets,
  webhook: runWebhookCommand,
}

async function runRole(name: keyof typeof roles): Promise<void> {
  const crashAt = process.env['GEOSWAP_CRASH_AT']
  if (crashAt) armFailPoints(crashAt)
  const logger = createLogger({ name, level: process.env['LOG_LEVEL'] ?? 'info' })
  stopOnSignal(await roles[name](logger), logger, process)
}

async function main(args: string[]): Promise<void> {
  const asked = readCommandLine(args)
  if (asked.kind === 'help') return terminal.out(asked.text)
  if (asked.kind === 'version') return terminal.out(describeBuild())
  if (asked.kind === 'refused') {
    terminal.hint(asked.text)
    process.exitCode = 2
    return
  }
  if (asked.kind === 'command') {
    const run = commands[asked.name]
    process.exitCode = await runCommand(terminal, () => run(asked.args, process.env, terminal))
    return
  }
  if (asked.acceptsTreasury) process.env['GEOSWAP_ACCEPT_TREASURY'] = '1'
  if (asked.name === 'migrate') return runMigrate()
  if (asked.name === 'all') process.exit(await runAll(process.env))
  return runRole(asked.name)
}

main(process.argv.slice(2)).catch((error: unknown) => {
  terminal.hint(describeError(error))
  process.exit(1)
})
