import type { Static } from 'typebox'
import type { FamilyName } from './chains/families.ts'
import type { NetworkConfig } from './config/finish.ts'
import type { Asset } from './config/market-schema.ts'
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

/** The configuration as written. */
export type NetworkFile = Static<typeof NetworkSchema>
export type { ChainConfig, ChainFile, EvmChainConfig, SolanaChainConfig } from './chains/families.ts'
export {
  defaultDeadlines,
  defaultDiscount,
  type NetworkConfig,
} from './config/finish.ts'
export type AssetConfig = Static<typeof Asset>
export type GasFloatConfig = NonNullable<NetworkConfig['gasFloat']>
export type WebConfig = NonNullable<NetworkConfig['web']>

export type Config = Readonly<{
  network: NetworkConfig
  databaseUrl: Secret
  /** Around a pooler, if `databaseUrl` leads through one. */
  directDatabaseUrl: Secret | undefined
  host: string
  port: number
  /** Address of the metrics listener of worker and attester; port 0 disables it. */
  metrics: { host: string; port: number }
  /** Address of the API's operator listener; port 0 disables it. */
  operator: { host: string; port: number; keys: readonly Secret[]; databaseUrl: Secret | undefined }
  /** From the standard variables of OpenTelemetry. */
  tracing: { endpoint: string | undefined; headers: Secret | undefined; service: string }
  /** How long the API keeps serving after the first signal, while not ready, so that load balancers stop using it. */
  drainMs: number
  /** Addresses and ranges of the API's load balancers, whose forwarded client addresses are trusted. */
  trustedProxies: readonly string[]
  sealKeys: readonly { id: string; key: Secret }[]
  /** The keys that the process holds itself, by family. */
  keys: Readonly<Partial<Record<FamilyName, readonly Secret[]>>>
  /** Client certificate and its key for the remote signers, in PEM. */
  signerTls: Secret | undefined
  pythApiKey: Secret | undefined
  /** Sent to a screening service, if one is configured. */
  screeningToken: Secret | undefined
  /** Whether the code of the treasury may differ between chains. */
  acceptsTreasury: boolean
}>
