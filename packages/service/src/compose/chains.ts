import {
  askEach,
  type ChainConfig,
  type ConnectedChain,
  type FamilyName,
  families,
  familyOf,
} from '../chains/families.ts'
import type { FindSigned, Signer } from '../chains/family.ts'
import { type Findings, joinFindings } from '../chains/findings.ts'
import { withGate } from '../chains/gate.ts'
import type { NetworkConfig } from '../config.ts'
import { mapOwn } from '../isolate.ts'
import type { CallMeter } from '../observe/call-meter.ts'
import { insideTransaction } from '../store/db.ts'
import type { Token } from '../swap/catalog.ts'
import type { ChainCustody } from '../swap/op-terms.ts'
import { buyingVenues } from '../venues/registry.ts'
import { wayOf, waysOn } from '../ways/registry.ts'

export type Chains = {
  all: readonly ConnectedChain[]
  of(chainId: number): ConnectedChain
  custodyOf(chainId: number): ChainCustody
}

type Options = {
  network: NetworkConfig
  /** The name of this process in requests to nodes. */
  caller?: string
  /** Counts the calls to nodes. */
  calls?: Pick<CallMeter, 'watch'>
  urlsOf(chain: ChainConfig): readonly string[]
  /** The keys of this process; none by default. */
  signers?: Signers
  /** Finds recorded transactions of payments; undefined if no payment is looked up. */
  findSigned?: FindSigned
  /** For how long to ask again while the nodes do not know the newest block yet. */
  patienceMs?: number
}

export type Signers = Partial<Record<FamilyName, readonly Signer[]>>

/** Connects every configured chain, without a call to a node. */
export function connectChains(options: Options): Chains {
  const { network, urlsOf, signers = {} } = options
  const places = new Map(network.chains.map((chain) => [chain.chainId, familyOf(chain).custodyOf(chain)]))
  const custodyOf = (chainId: number) => get(places, chainId)
  const connected = network.chains.map((config): ConnectedChain => {
    const urls = urlsOf(config)
    const family = familyOf(config)
    const connected = family.connect({
      network,
      config,
      urls,
      signers: signers[family.name] ?? [],
      float: floatAddressOf(network, config),
      venues: buyingVenues(network, config.chainId),
      locks: waysOn(family.name),
      findSigned: options.findSigned,
      custodyOf,
      caller: options.caller,
      watches: options.calls?.watch(config.name, urls),
      patienceMs: options.patienceMs,
      assertOutsideTransaction,
    })
    return { ...withGate(connected, (input) => wayOf(input).signs === 'hash'), family }
  })
  const byId = new Map(connected.map((chain) => [chain.config.chainId, chain]))
  const of = (chainId: number) => get(byId, chainId)
  return {
    all: connected,
    of,
    custodyOf,
  }
}

// Providers keep backends within a few blocks of each other.
export const COMMAND_PATIENCE_MS = 30_000

/** The chains for a command, which cannot come back to a question in a later round. */
export function connectForCommand(
  network: NetworkConfig,
  { nodes = 'rpcUrls', signers = {} }: { nodes?: 'rpcUrls' | 'attesterRpcUrls'; signers?: Signers } = {},
): Chains {
  const urlsOf = (chain: ChainConfig) => chain[nodes]
  return connectChains({ network, urlsOf, signers, patienceMs: COMMAND_PATIENCE_MS })
}

/** The names of the ways in which inputs of a token come in; none where wallets sign transfers. */
export function waysIn({ config, nativeToken }: ConnectedChain, token: Token): string[] {
  const native = { chainId: config.chainId, ...config.native, ...nativeToken }
  return waysOn(familyOf(config).name)
    .filter((way) => way.takes(token, native))
    .map(({ name }) => name)
}

/** A database transaction that waits for a node or a signer would hold its locks for as long as that takes. */
export function assertOutsideTransaction(): void {
  if (insideTransaction())
    throw new Error('A chain or a signer must not be called inside a database transaction')
}

function get<T>(map: ReadonlyMap<number, T>, chainId: number): T {
  const value = map.get(chainId)
  if (value === undefined) throw new Error(`Chain ${chainId} is not configured`)
  return value
}

/** Asserts that the process has the keys of all addresses it is configured to act for. */
export function assertKeysFor(addresses: readonly string[], keys: readonly { address: string }[]): void {
  const given = new Set(keys.map((key) => key.address))
  const missing = addresses.filter((address) => !given.has(address))
  if (missing.length > 0) throw new Error(`No private key for ${missing.join(', ')}`)
}

/** All configured addresses that a worker signs for. */
export function signingAddresses(network: NetworkConfig): string[] {
  const { chains, gasFloat } = network
  return [
    ...askEach(chains, ({ keys }, own) => keys.ofWorker(network, own)),
    ...families.flatMap(({ name, addresses }) => {
      const float = gasFloat?.[name]
      return float === undefined ? [] : [addresses.parse(float) ?? float]
    }),
  ]
}

/** The addresses whose signatures of attestations may count. */
export function attestersOf(network: NetworkConfig): string[] {
  return askEach(network.chains, ({ keys }, own) => keys.ofAttesters(network, own))
}

/** The address that tops up the keys of a chain; undefined if none does. */
export function floatAddressOf({ gasFloat }: NetworkConfig, config: ChainConfig): string | undefined {
  const isFilled = gasFloat?.chains.some(({ chainId }) => chainId === config.chainId)
  const { name, addresses } = familyOf(config)
  const address = isFilled ? gasFloat?.[name] : undefined
  return address === undefined ? undefined : (addresses.parse(address) ?? address)
}

/** Verifies every chain against the configuration. */
export async function findDifferences(chains: {
  all: readonly Pick<ConnectedChain, 'verify'>[]
}): Promise<Findings> {
  return joinFindings(await mapOwn(chains.all, (chain) => chain.verify()))
}
