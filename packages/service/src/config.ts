import type { Static } from 'typebox'
import type { EvmChain, SolanaChain } from './config/chain-schema.ts'
import type { Asset, InventoryVenue } from './config/market-schema.ts'
import type { NetworkSchema } from './config/network-schema.ts'

/** A value that must never be printed: logs and JSON show only that it is set. */
export class Secret {
  readonly #value: string
  constructor(value: string) {
    this.#value = value
  }
  reveal(): string {
    return this.#value
  }
  toJSON(): string {
    return '[secret]'
  }
}

export type NetworkConfig = Static<typeof NetworkSchema>
export type EvmChainConfig = Static<typeof EvmChain>
export type SolanaChainConfig = Static<typeof SolanaChain>
export type ChainConfig = EvmChainConfig | SolanaChainConfig
export type AssetConfig = Static<typeof Asset>
export type InventoryVenueConfig = Static<typeof InventoryVenue>
export type GasFloatConfig = NonNullable<NetworkConfig['gasFloat']>
export type WebConfig = NonNullable<NetworkConfig['web']>

export type Config = Readonly<{
  network: NetworkConfig
  databaseUrl: Secret
  host: string
  port: number
  /** Where worker and attester show their metrics; port 0 is nowhere. */
  metrics: { host: string; port: number }
  /** Where the API shows its operator what only an operator may see; port 0 is nowhere. */
  operator: { host: string; port: number; keys: readonly Secret[]; databaseUrl: Secret | undefined }
  /** By the variables that OpenTelemetry gives every program. */
  tracing: { endpoint: string | undefined; headers: Secret | undefined; service: string }
  /** How long the API serves on after the first signal, no longer ready, so that balancers look elsewhere. */
  drainMs: number
  /** Addresses and ranges of the API's balancers: they say whom they pass on. */
  trustedProxies: readonly string[]
  sealKeys: readonly { id: string; key: Secret }[]
  relayerKeys: readonly Secret[]
  delivererKeys: readonly Secret[]
  /** Two while one takes over from the other. */
  attesterKeys: readonly Secret[]
  /** Of the gas float on EVM chains; that of Solana is among the Solana keys. */
  floatKey: Secret | undefined
  /** Vault authorities and fee payers of the Solana chains. */
  solanaKeys: readonly Secret[]
  /** Makes the addresses of Solana markers; the same in every process, and backed up. */
  markerKey: Secret | undefined
  pythApiKey: Secret | undefined
}>

export const defaultDeadlines = {
  opLifeSeconds: 120,
  lockInclusionSeconds: 60,
  fillSeconds: 600,
  cutOffSeconds: 60,
  attemptLifeSeconds: 90,
  detectionSeconds: 60,
  claimInclusionSeconds: 300,
}

/** Value that may be delivered against locks of a chain that are not hard-final. */
export const defaultExposureCapUsd = 25_000

/** Value that may be delivered against inputs of a chain that are not claimed for good. */
export const defaultUnclaimedCapUsd = 250_000

export const defaultDiscount = {
  tiers: [
    { name: 'bronze', holding: '1000', percent: 10 },
    { name: 'silver', holding: '10000', percent: 25 },
    { name: 'gold', holding: '100000', percent: 50 },
  ],
  maxAgeSeconds: 60,
}
