import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FamilyName } from '../chains/families.ts'
import type { AssetConfig } from '../config.ts'
import type { FinalityRules } from '../swap/finality.ts'

const FOLDER = fileURLToPath(new URL('../../presets/', import.meta.url))

/** An address or hash, the page it was taken from, and the issuer's page to compare with. */
export type Cited<T> = T & { source: string; official?: string }

/** The operator-independent facts of a public chain. */
export type Preset = {
  chainId: number
  name: string
  /** Its coins have no value. */
  testnet?: true
  family: FamilyName
  native: { symbol: string; asset: string }
  finality: FinalityRules
  /** The source for the depths. */
  finalitySource: string
  blockMs: number
  /** `plain`: its transfers move exactly their amount. */
  tokens: Cited<{ symbol: string; address: string; asset: string; decimals: number; plain?: true }>[]
  feeds: Cited<PresetFeed>[]
  l1FeeOracle?: Cited<{ address: string }>
  l1Gas?: Cited<{ kind: 'arbitrum' }>
  /** Set if usual priority fees exceed twice the base fee. */
  maxTipWei?: string
  genesisHash?: Cited<{ value: string }>
  notes: string[]
}

/**
 * A price source of an asset; one on this chain omits the chain id. `maxAgeSeconds` is slightly more than the heartbeat
 * on the official page.
 */
export type PresetFeed = { asset: string } & (
  | { kind: 'chainlink'; address: string; maxAgeSeconds: number; description?: string }
  | { kind: 'pyth'; feedId: string; maxAgeSeconds: number }
)
export type Source = AssetConfig['sources'][number]

export function listPresets(): string[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.slice(0, -'.json'.length))
}

/** The preset of a public chain; undefined if there is none. */
export function findPresetOf(chainId: number): Preset | undefined {
  return listPresets()
    .flatMap((name) => readPreset(name) ?? [])
    .find((preset) => preset.chainId === chainId)
}

/** Undefined if the preset does not exist. */
export function readPreset(name: string): Preset | undefined {
  if (!listPresets().includes(name)) return undefined
  return JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8'))
}
