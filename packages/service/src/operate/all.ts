import { type ChildProcess, spawn } from 'node:child_process'
import type { Env } from '../command.ts'
import type { Role } from '../config/load.ts'

const ROLES: readonly Role[] = ['api', 'worker', 'attester']

// The roles that need each secret. All roles see variables that are not listed.
const SECRETS: Record<string, readonly Role[]> = {
  // Belongs to one role, or to the owner of the tables: each role gets its own URL by name.
  DATABASE_URL: [],
  GEOSWAP_OWNER_DATABASE_URL: [],
  GEOSWAP_API_DATABASE_URL: ['api'],
  GEOSWAP_DASHBOARD_DATABASE_URL: ['api'],
  GEOSWAP_WORKER_DATABASE_URL: ['worker'],
  GEOSWAP_ATTESTER_DATABASE_URL: ['attester'],
  GEOSWAP_SEAL_KEYS: ['api'],
  GEOSWAP_OPERATOR_KEYS: ['api'],
  GEOSWAP_RELAYER_KEYS: ['worker'],
  GEOSWAP_DELIVERER_KEYS: ['worker'],
  GEOSWAP_SOLANA_KEYS: ['worker'],
  GEOSWAP_ATTESTER_KEY: ['attester'],
  GEOSWAP_SOLANA_ATTESTER_KEY: ['attester'],
  GEOSWAP_DEPLOYER_KEY: [],
  GEOSWAP_TREASURY_KEY: [],
  GEOSWAP_FLOAT_KEY: ['worker'],
  GEOSWAP_WORKER_SIGNER_TLS: ['worker'],
  GEOSWAP_ATTESTER_SIGNER_TLS: ['attester'],
  GEOSWAP_PYTH_API_KEY: ['api', 'worker'],
  OTEL_EXPORTER_OTLP_HEADERS: ['api', 'worker'],
  GEOSWAP_KEYSTORE: ['worker', 'attester'],
  GEOSWAP_KEYSTORE_PASSPHRASE: ['worker', 'attester'],
  // Passed on as the two above, in their place.
  GEOSWAP_WORKER_KEYSTORE: [],
  GEOSWAP_WORKER_KEYSTORE_PASSPHRASE: [],
  GEOSWAP_ATTESTER_KEYSTORE: [],
  GEOSWAP_ATTESTER_KEYSTORE_PASSPHRASE: [],
}

/** The environment of one role, without keys of others. */
export function environmentOf(role: Role, env: Env): Record<string, string> {
  const hasKeystore = keystoreOf(role, env)['GEOSWAP_KEYSTORE'] !== undefined
  const entries = Object.entries(env).filter(([name]) => {
    if (hasKeystore && name.startsWith('GEOSWAP_KEYSTORE')) return false
    const owners = SECRETS[name.replace(/_FILE$/, '')]
    return owners === undefined || owners.includes(role)
  })
  const own = Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined))
  return { ...own, ...metricsOf(role, env), ...keystoreOf(role, env) }
}

const KEYSTORE = ['KEYSTORE', 'KEYSTORE_PASSPHRASE', 'KEYSTORE_PASSPHRASE_FILE']

/** Worker and attester have separate keystores: each gets its own one under the usual names. */
function keystoreOf(role: Role, env: Env): Record<string, string> {
  const entries = KEYSTORE.map((name) => [`GEOSWAP_${name}`, env[`GEOSWAP_${role.toUpperCase()}_${name}`]])
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined))
}

/** Two processes cannot listen on one port: the attester uses the port after the worker's. */
function metricsOf(role: Role, { METRICS_PORT: port }: Env): Record<string, string> {
  const isOn = port !== undefined && /^[1-9]\d*$/.test(port)
  return isOn && role === 'attester' ? { METRICS_PORT: String(Number(port) + 1) } : {}
}

/**
 * Runs API, worker and attester on one machine, each in its own process with only its own secrets. When one exits, the
 * others are stopped, so that a supervisor can restart all of them.
 */
export async function runAll(env: Env): Promise<number> {
  const children = ROLES.map((role) => start(role, env))
  let isStopping = false
  const stop = () => {
    // The first signal drains, the second kills; each child does the same with its own signals.
    for (const child of children) child.kill(isStopping ? 'SIGKILL' : 'SIGTERM')
    isStopping = true
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  const codes = await Promise.all(
    children.map(async (child) => {
      const code = await ended(child)
      if (!isStopping) stop()
      return code
    }),
  )
  return codes.every((code) => code === 0) ? 0 : 1
}

function start(role: Role, env: Env): ChildProcess {
  // In a process group of its own: Ctrl-C in a terminal then reaches only this process, which stops the others in
  // order.
  const options = { env: environmentOf(role, env), stdio: 'inherit', detached: true } as const
  const [, main = ''] = process.argv
  return spawn(process.execPath, [...process.execArgv, main, role], options)
}

function ended(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    child.once('error', () => resolve(1))
    child.once('exit', (code) => resolve(code ?? 1))
  })
}
