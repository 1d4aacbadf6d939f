import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AssetConfig } from '../config.ts'
import type { FinalityRules } from '../model/finality.ts'

const FOLDER = fileURLToPath(new URL('../../presets/', import.meta.url))

/** An address or hash, the page that it was taken from, and that of its issuer to compare with. */
export type Cited<T> = T & { source: string; official?: string }

/** What is known of a public chain, whoever operates on it. */
export type Preset = {
  chainId: number
  name: string
  /** Its coins are worth nothing. */
  testnet?: true
  family: 'evm' | 'solana'
  native: { symbol: string; asset: string }
  finality: FinalityRules
  /** What the depths were chosen by. */
  finalitySource: string
  blockMs: number
  tokens: Cited<{ symbol: string; address: string; asset: string; decimals: number }>[]
  feeds: Cited<PresetFeed>[]
  l1FeeOracle?: Cited<{ address: string }>
  l1Gas?: Cited<{ kind: 'arbitrum' }>
  /** Where tips are above twice the base fee. */
  maxTipWei?: string
  genesisHash?: Cited<{ value: string }>
  notes: string[]
}

/**
 * A price source as an asset has it; one on this chain does not repeat where it is. `maxAgeSeconds` is a little more
 * than the heartbeat, which the official page lists.
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

/** Undefined when there is no such preset. */
export function readPreset(name: string): Preset | undefined {
  if (!listPresets().includes(name)) return undefined
  return JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8'))
}
