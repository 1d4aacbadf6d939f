import { existsSync, readFileSync } from 'node:fs'
import { type NetworkConfig, Secret } from '../config.ts'
import { openKeys, prepareKeys } from './keystore.ts'

export type Env = Readonly<Record<string, string | undefined>>

/** Reads a setting from its variable, or from the file in `NAME_FILE`, as with container secrets. */
export function readSetting(env: Env, name: string, problems: string[]): string | undefined {
  const value = env[name]
  const file = env[`${name}_FILE`]
  if (value && file) problems.push(`${name} and ${name}_FILE are both set: set only one`)
  if (value || !file) return value || undefined
  try {
    return readFileSync(file, 'utf8').trim() || undefined
  } catch (error) {
    problems.push(`${name}_FILE cannot be read: ${error instanceof Error ? error.message : error}`)
    return undefined
  }
}

/** Matches the name of a setting in the URL of a node. */
export const PLACEHOLDER = /\$\{([A-Z][A-Z0-9_]*)\}/g
type NodeList = 'rpcUrls' | 'attesterRpcUrls' | 'wsUrls'

/** Replaces `${NAME}` in URLs of nodes by the setting NAME: providers put keys there. */
export function fillInUrls(
  network: NetworkConfig,
  lists: readonly NodeList[],
  env: Env,
  problems: string[],
): NetworkConfig {
  const fill = (url: string, where: string) => {
    const before = problems.length
    const filled = url.replace(PLACEHOLDER, (_, name: string) => required(env, name, problems))
    // Settings are secret: do not print the URL.
    if (problems.length === before && !URL.canParse(filled))
      problems.push(`${where} is not a valid URL with its settings replaced`)
    return filled
  }
  const chains = network.chains.map((chain) => ({
    ...chain,
    ...Object.fromEntries(
      lists.flatMap((list) => {
        const urls: readonly string[] | undefined = list in chain ? Reflect.get(chain, list) : undefined
        return urls ? [[list, urls.map((url, index) => fill(url, `${chain.name}: /${list}/${index}`))]] : []
      }),
    ),
  }))
  return { ...network, chains }
}

export function required(env: Env, name: string, problems: string[]): string {
  const before = problems.length
  const value = readSetting(env, name, problems)
  if (!value && problems.length === before) problems.push(`${name} is not set`)
  return value ?? ''
}

export function optionalSecret(env: Env, name: string, problems: string[]): Secret | undefined {
  const value = readSetting(env, name, problems)
  return value === undefined ? undefined : new Secret(value)
}

export function parseSealKeys(value: string, problems: string[]): { id: string; key: Secret }[] {
  return value.split(',').map((entry) => {
    const [id = '', key = ''] = entry.split(':')
    const ok = /^[A-Za-z0-9]{1,16}$/.test(id) && /^[0-9a-f]{64}$/.test(key)
    if (!ok)
      problems.push(
        'GEOSWAP_SEAL_KEYS must be a comma-separated list of id:64 hex digits, the sealing key first',
      )
    return { id, key: new Secret(key) }
  })
}

const MIN_OPERATOR_KEY = 32

/** Several, to allow a rotation. */
export function operatorKeys(env: Env, problems: string[]): Secret[] {
  const before = problems.length
  const keys = required(env, 'GEOSWAP_OPERATOR_KEYS', problems).split(',')
  const isRight = keys.every((key) => key.length >= MIN_OPERATOR_KEY && /^[\x21-\x7e]+$/.test(key))
  if (!isRight && problems.length === before) {
    problems.push(
      `GEOSWAP_OPERATOR_KEYS must be a comma-separated list of keys of at least ${MIN_OPERATOR_KEY} characters`,
    )
  }
  return keys.map((key) => new Secret(key))
}

/** The keys of these roles, from their variable or from the keystore. */
export function readKeys(env: Env, name: string, roles: readonly string[], problems: string[]): Secret[] {
  const folder = env['GEOSWAP_KEYSTORE']
  if (!folder || readSetting(env, name, problems) !== undefined) return privateKeys(env, name, problems)
  const passphrase = required(env, 'GEOSWAP_KEYSTORE_PASSPHRASE', problems)
  if (!passphrase) return []
  try {
    const keys = openKeys(folder, { roles, passphrase }).map(({ key }) => key)
    if (keys.length === 0)
      problems.push(`${name} is not set, and ${folder} has no key of ${roles.join(', ')}`)
    return keys
  } catch (error) {
    problems.push(error instanceof Error ? error.message : String(error))
    return []
  }
}

/** Does the slow part of `readKeys` for these roles beforehand, on all processors. */
export async function prepareKeystore(env: Env, roles: readonly string[]): Promise<void> {
  const folder = env['GEOSWAP_KEYSTORE']
  const passphrase = readSetting(env, 'GEOSWAP_KEYSTORE_PASSPHRASE', [])
  if (folder && passphrase && existsSync(folder)) await prepareKeys(folder, { roles, passphrase })
}

function privateKeys(env: Env, name: string, problems: string[]): Secret[] {
  const values = required(env, name, problems).split(',')
  if (!values.every((value) => /^0x[0-9a-f]{64}$/.test(value))) {
    problems.push(`${name} must be a comma-separated list of private keys of 0x and 64 hex digits`)
  }
  return values.map((value) => new Secret(value))
}
