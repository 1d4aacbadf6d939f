import { join } from 'node:path'
import { familyOf } from '@geoswap/sdk/families'
import { UserError } from '../errors.ts'
import { damaged, readJsonFile, replaceJsonFile } from './private-files.ts'

/**
 * Values by the names that `config set` takes: `url`, `apiKey`, `wallet`, `rpc.31337`, `account.31337` and so
 * on.
 */
export type Config = Readonly<Record<string, string>>

export const CONFIG_KEYS = {
  url: 'URL of the service',
  apiKey: 'API key of that service',
  wallet: 'the default wallet',
  'mcp.NAME': 'limits of geoswap mcp: see geoswap mcp --help',
  'rpc.CHAIN_ID': 'a node of the chain, to verify contracts, for balances, max and refunds',
  'account.CHAIN_ID': 'the contract that wallets may delegate to on the chain; others are refused',
  'escrow.CHAIN_ID': 'the contract that may hold inputs on the chain; others are refused',
  'vault.CHAIN_ID': 'the contract that may pay outputs on the chain; others are refused',
  'attester.CHAIN_ID': 'the key that decides swaps from Solana; others are refused',
} as const

/** The contracts of a chain that a user can name. */
export const CONTRACTS = ['account', 'escrow', 'vault', 'attester'] as const

/** Rules of `geoswap mcp`, named as in flags, environment and configuration. */
export const MCP_SETTINGS = [
  'wallets',
  'maxSwapUsd',
  'maxDayUsd',
  'confirmAboveUsd',
  'recipients',
  'allowUnknownValue',
  'waitSeconds',
] as const
export type McpSetting = (typeof MCP_SETTINGS)[number]

export type ConfigFile = ReturnType<typeof openConfigFile>

export function openConfigFile(folder: string) {
  const path = join(folder, 'config.json')

  function read(): Config {
    const value = readJsonFile(path) ?? {}
    const isConfig =
      typeof value === 'object' && Object.values(value).every((each) => typeof each === 'string')
    if (!isConfig) throw damaged(path)
    return value as Config
  }

  return {
    path,
    read,
    set(key: string, value: string): void {
      assertFits(key, value)
      replaceJsonFile(path, { ...read(), [key]: value })
    },
    unset(key: string): void {
      assertKey(key)
      const { [key]: _, ...rest } = read()
      replaceJsonFile(path, rest)
    },
  }
}

const CHAIN_KEY = new RegExp(`^(rpc|${CONTRACTS.join('|')})\\.\\d{1,16}$`)
const MCP_KEYS: readonly string[] = MCP_SETTINGS.map((name) => `mcp.${name}`)

export function assertKey(key: string): void {
  if (CHAIN_KEY.test(key) || MCP_KEYS.includes(key) || ['url', 'apiKey', 'wallet'].includes(key)) return
  const plain = Object.keys(CONFIG_KEYS).filter((name) => name !== 'mcp.NAME')
  const advice = `There are ${[...plain, ...MCP_KEYS].join(', ')}.`
  throw new UserError('USAGE', `There is no setting ${key}.`, { advice })
}

function assertFits(key: string, value: string): void {
  assertKey(key)
  const isUrl = key === 'url' || key.startsWith('rpc.')
  if (isUrl && !(URL.canParse(value) && /^https?:/.test(value)))
    throw new UserError('USAGE', `${key} must be a URL such as https://host/path.`)
  if (value === '')
    throw new UserError('USAGE', `${key} needs a value.`, { advice: 'config unset removes it.' })
  if (CONTRACTS.some((name) => key.startsWith(`${name}.`)) && familyOf(value) === undefined)
    throw new UserError('USAGE', `${key} must be an address, with its checksum if it has mixed case.`)
}
