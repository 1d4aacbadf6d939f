import { isIP } from 'node:net'
import { families } from '../chains/families.ts'
import type { KeySource } from '../chains/family.ts'
import { type Config, type NetworkConfig, Secret } from '../config.ts'
import { listKeys } from './keystore.ts'
import { readNetwork } from './network-file.ts'
import {
  type Env,
  fillInUrls,
  operatorKeys,
  optionalSecret,
  parseSealKeys,
  prepareKeystore,
  readKeys,
  readSetting,
  required,
} from './secrets.ts'
import { createRemoteCheck } from './signer-problems.ts'

export type Role = 'api' | 'worker' | 'attester'

/** As `loadConfig`, for a process that has to start within seconds: its keys are opened on all processors. */
export async function loadProcessConfig(env: Env, role: Role): Promise<Config> {
  const sources = families.flatMap(({ keys }) => keys.sources.filter(({ process }) => process === role))
  await prepareKeystore(
    env,
    sources.flatMap(({ roles }) => roles),
  )
  return loadConfig(env, role)
}

// See docs/decisions.md#one-explicit-configuration.
/** Reads the whole configuration and reports all problems in one error, before anything starts. */
export function loadConfig(env: Env, role: Role): Config {
  const problems: string[] = []
  const file = readNetwork(env['GEOSWAP_CONFIG'], problems)
  const nodes = role === 'attester' ? (['attesterRpcUrls'] as const) : (['rpcUrls', 'wsUrls'] as const)
  const network = problems.length > 0 ? file : fillInUrls(file, nodes, env, problems)
  const operatorPort =
    role === 'api' ? integerFrom(env, 'GEOSWAP_OPERATOR_PORT', { default: 0, max: 65_535 }, problems) : 0
  const config = {
    network,
    databaseUrl: databaseUrlOf(role, env, problems),
    directDatabaseUrl: optionalSecret(env, 'DATABASE_DIRECT_URL', problems),
    host: env['HOST'] ?? '127.0.0.1',
    port: integerFrom(env, 'PORT', { default: 8_080, max: 65_535 }, problems),
    metrics: {
      host: env['METRICS_HOST'] ?? '127.0.0.1',
      port: integerFrom(env, 'METRICS_PORT', { default: 0, max: 65_535 }, problems),
    },
    operator: {
      host: env['GEOSWAP_OPERATOR_HOST'] ?? '127.0.0.1',
      port: operatorPort,
      keys: operatorPort > 0 ? operatorKeys(env, problems) : [],
      databaseUrl:
        operatorPort > 0 ? new Secret(required(env, 'GEOSWAP_DASHBOARD_DATABASE_URL', problems)) : undefined,
    },
    tracing: {
      endpoint: env['OTEL_EXPORTER_OTLP_ENDPOINT'],
      headers: optionalSecret(env, 'OTEL_EXPORTER_OTLP_HEADERS', problems),
      service: env['OTEL_SERVICE_NAME'] || 'geoswap',
    },
    drainMs: 1_000 * integerFrom(env, 'GEOSWAP_DRAIN_SECONDS', { default: 0, max: 300 }, problems),
    trustedProxies: addressesFrom(env, 'GEOSWAP_TRUSTED_PROXIES', problems),
    sealKeys: role === 'api' ? parseSealKeys(required(env, 'GEOSWAP_SEAL_KEYS', problems), problems) : [],
    keys: readAllKeys(env, role, network, problems),
    signerTls: role === 'api' ? undefined : optionalSecret(env, SIGNER_TLS[role], problems),
    screeningToken:
      role === 'attester' ? undefined : optionalSecret(env, 'GEOSWAP_SCREENING_TOKEN', problems),
    pythApiKey: optionalSecret(env, 'GEOSWAP_PYTH_API_KEY', problems),
    acceptsTreasury: env['GEOSWAP_ACCEPT_TREASURY'] === '1',
  }
  if (problems.length > 0) throw new Error(`Invalid configuration:\n- ${[...new Set(problems)].join('\n- ')}`)
  return Object.freeze(config)
}

/** The keys that a process holds itself. The network may be invalid, and contain anything. */
function readAllKeys(env: Env, role: Role, network: NetworkConfig, problems: string[]): Config['keys'] {
  const isRemote = createRemoteCheck(network)
  return Object.fromEntries(
    families.map(({ name, keys: { sources } }) => {
      const needed = sources.filter(
        ({ process, isNeeded, ...source }) =>
          process === role && isNeeded(network ?? {}, { isRemote, isGiven: () => isGiven(env, source) }),
      )
      return [name, needed.flatMap(({ variable, roles }) => readKeys(env, variable, roles, problems))]
    }),
  )
}

function isGiven(env: Env, { variable, roles }: Pick<KeySource, 'variable' | 'roles'>): boolean {
  if ((env[variable] ?? env[`${variable}_FILE`]) !== undefined) return true
  const folder = env['GEOSWAP_KEYSTORE']
  return folder ? listKeys(folder).some(({ role }) => roles.includes(role)) : false
}

/** Worker and attester sign with different servers, which must tell them apart. */
const SIGNER_TLS = { worker: 'GEOSWAP_WORKER_SIGNER_TLS', attester: 'GEOSWAP_ATTESTER_SIGNER_TLS' }

/** From a variable of the role, if several roles share an environment, or from DATABASE_URL. */
function databaseUrlOf(role: Role, env: Env, problems: string[]): Secret {
  const own = `GEOSWAP_${role.toUpperCase()}_DATABASE_URL`
  const before = problems.length
  const value = readSetting(env, own, problems) ?? readSetting(env, 'DATABASE_URL', problems)
  if (!value && problems.length === before) problems.push(`${own} is not set, nor is DATABASE_URL`)
  return new Secret(value ?? '')
}

function addressesFrom(env: Env, name: string, problems: string[]): string[] {
  const addresses = (env[name] ?? '').split(',').flatMap((address) => address.trim() || [])
  const wrong = addresses.filter((address) => !isAddressOrRange(address))
  for (const address of wrong)
    problems.push(`${name}: ${address} is not an IP address or a range such as 10.0.0.0/8`)
  return addresses
}

function isAddressOrRange(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/')
  const version = isIP(address)
  if (version === 0 || more.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
}

type Range = { default: number; max: number }

function integerFrom(env: Env, name: string, range: Range, problems: string[]): number {
  const value = Number(env[name] ?? range.default)
  const isRight = Number.isInteger(value) && value >= 0 && value <= range.max
  if (!isRight) problems.push(`${name} must be an integer in 0..${range.max}`)
  return value
}
