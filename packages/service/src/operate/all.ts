import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { getAddress, type Hex, isHex } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { type Env, terminal } from '../command.ts'
import { listKeys } from '../config/keystore.ts'
import type { Role } from '../config/load.ts'
import { parseNetwork } from '../config/network-file.ts'
import { attesterAddresses } from '../swap/attester-set.ts'

/** One process. Attesters are numbered from 1. */
export type Instance = { role: Role; number?: number }

const OF_ATTESTER = /^GEOSWAP_ATTESTER_(\d+)_/

/** The processes that the environment has settings for: GEOSWAP_ATTESTER_2_… makes a second attester. */
export function instancesOf(env: Env): Instance[] {
  const numbers = Object.keys(env).flatMap((name) => OF_ATTESTER.exec(name)?.[1] ?? [])
  const more = [...new Set(numbers.map(Number))].filter((number) => number > 1).sort((a, b) => a - b)
  return [
    { role: 'api' },
    { role: 'worker' },
    ...[1, ...more].map((number) => ({ role: 'attester' as const, number })),
  ]
}

// The roles that need each secret. All roles see variables that are not listed.
const SECRETS: Record<string, readonly Role[]> = {
  // Belongs to one role, or to the owner of the tables: each role gets its own URL by name.
  DATABASE_URL: [],
  DATABASE_DIRECT_URL: [],
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
  GEOSWAP_SOLANA_DEPLOYER_KEY: [],
  GEOSWAP_SOLANA_PROGRAM_KEY: [],
  GEOSWAP_TREASURY_KEY: [],
  GEOSWAP_GUARDIAN_KEY: [],
  GEOSWAP_FLOAT_KEY: ['worker'],
  GEOSWAP_WORKER_SIGNER_TLS: ['worker'],
  GEOSWAP_ATTESTER_SIGNER_TLS: ['attester'],
  GEOSWAP_PYTH_API_KEY: ['api', 'worker'],
  GEOSWAP_SCREENING_TOKEN: ['api', 'worker'],
  OTEL_EXPORTER_OTLP_HEADERS: ['api', 'worker'],
  GEOSWAP_KEYSTORE: ['worker', 'attester'],
  GEOSWAP_KEYSTORE_PASSPHRASE: ['worker', 'attester'],
  // Passed on as the two above, in their place.
  GEOSWAP_WORKER_KEYSTORE: [],
  GEOSWAP_WORKER_KEYSTORE_PASSPHRASE: [],
  GEOSWAP_ATTESTER_KEYSTORE: [],
  GEOSWAP_ATTESTER_KEYSTORE_PASSPHRASE: [],
}

/** The environment of one process, without keys of others. */
export function environmentOf({ role, number = 1 }: Instance, given: Env): Record<string, string> {
  const env = toOwnNames(given, number)
  const hasKeystore = keystoreOf(role, env)['GEOSWAP_KEYSTORE'] !== undefined
  const entries = Object.entries(env).filter(([name]) => {
    if (hasKeystore && name.startsWith('GEOSWAP_KEYSTORE')) return false
    const owners = SECRETS[name.replace(/_FILE$/, '')]
    return owners === undefined || owners.includes(role)
  })
  const own = Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined))
  return { ...own, ...metricsOf({ role, number }, env), ...keystoreOf(role, env) }
}

/** GEOSWAP_ATTESTER_2_KEY is the GEOSWAP_ATTESTER_KEY of the second attester. It gets no variable of the first. */
function toOwnNames(env: Env, number: number): Env {
  const isOfFirst = (name: string) => /^GEOSWAP_(SOLANA_)?ATTESTER_/.test(name)
  const entries = Object.entries(env).flatMap(([name, value]) => {
    const other = OF_ATTESTER.exec(name)?.[1]
    if (other !== undefined)
      return Number(other) === number ? [[name.replace(OF_ATTESTER, 'GEOSWAP_ATTESTER_'), value]] : []
    return number > 1 && isOfFirst(name) ? [] : [[name, value]]
  })
  return Object.fromEntries(entries)
}

const KEYSTORE = ['KEYSTORE', 'KEYSTORE_PASSPHRASE', 'KEYSTORE_PASSPHRASE_FILE']

/** Worker and attester have separate keystores: each gets its own one under the usual names. */
function keystoreOf(role: Role, env: Env): Record<string, string> {
  const entries = KEYSTORE.map((name) => [`GEOSWAP_${name}`, env[`GEOSWAP_${role.toUpperCase()}_${name}`]])
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined))
}

/** Two processes cannot listen on one port: the attesters use the ports after the worker's. */
function metricsOf({ role, number = 1 }: Instance, { METRICS_PORT: port }: Env): Record<string, string> {
  const isOn = port !== undefined && /^[1-9]\d*$/.test(port)
  return isOn && role === 'attester' ? { METRICS_PORT: String(Number(port) + number) } : {}
}

/** Says which configured attesters have no key here; undefined if all have one, or if that cannot be read. */
export function attestersElsewhere(env: Env): string | undefined {
  const file = env['GEOSWAP_CONFIG']
  const network = file && existsSync(file) ? parseNetwork(readFileSync(file, 'utf8')).network : undefined
  if (!network) return undefined
  const attesters = instancesOf(env).filter(({ role }) => role === 'attester')
  const here = new Set(attesters.flatMap((each) => addressesOf(environmentOf(each, env))))
  for (const { addresses } of network.remoteSigners ?? [])
    for (const address of addresses.filter((each) => isHex(each))) here.add(getAddress(address))
  const missing = attesterAddresses(network).filter((address) => !here.has(getAddress(address)))
  if (missing.length === 0) return undefined
  return `No key here for ${missing.join(', ')}: run \`service attester\` with it elsewhere.`
}

/** The attesters whose keys a process gets. A keystore states its addresses without the passphrase. */
function addressesOf(env: Env): string[] {
  const folder = env['GEOSWAP_KEYSTORE']
  const stored = folder && existsSync(folder) ? listKeys(folder) : []
  const given = env['GEOSWAP_ATTESTER_KEY'] ?? readIfThere(env['GEOSWAP_ATTESTER_KEY_FILE'])
  const keys = given === undefined ? [] : given.split(',').map((key) => key.trim())
  return [
    ...stored.filter(({ role }) => role === 'attester').map(({ address }) => address),
    ...keys.filter((key) => isHex(key)).map((key) => privateKeyToAddress(key as Hex)),
  ]
}

const readIfThere = (file: string | undefined) =>
  file !== undefined && existsSync(file) ? readFileSync(file, 'utf8') : undefined

/**
 * Runs API, worker and attesters on one machine, each in its own process with only its own secrets. When one exits, the
 * others are stopped, so that a supervisor can restart all of them.
 */
export async function runAll(env: Env): Promise<number> {
  const elsewhere = attestersElsewhere(env)
  if (elsewhere) terminal.hint(elsewhere)
  const children = instancesOf(env).map((instance) => start(instance, env))
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

function start(instance: Instance, env: Env): ChildProcess {
  // In a process group of its own: Ctrl-C in a terminal then reaches only this process, which stops the others in
  // order.
  const options = { env: environmentOf(instance, env), stdio: 'inherit', detached: true } as const
  const [, main = ''] = process.argv
  return spawn(process.execPath, [...process.execArgv, main, instance.role], options)
}

function ended(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    child.once('error', () => resolve(1))
    child.once('exit', (code) => resolve(code ?? 1))
  })
}
