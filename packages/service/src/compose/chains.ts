import { getAddress } from 'viem'
import type { InputBuilder } from '../chains/chain.ts'
import type { EvmSigner } from '../chains/evm/signer.ts'
import { type Findings, joinFindings } from '../chains/findings.ts'
import { type Gate, guarded } from '../chains/gate.ts'
import type { FindSigned } from '../chains/solana/parts.ts'
import type { SolanaSigner } from '../chains/solana/settings.ts'
import type { ChainConfig, NetworkConfig } from '../config.ts'
import { mapOwn } from '../isolate.ts'
import type { CallMeter } from '../observe/call-meter.ts'
import { insideTransaction } from '../store/db.ts'
import type { ChainCustody } from '../swap/op-terms.ts'
import type { ConnectedChain, EvmParts, SolanaOrigin, Ungated } from './connected-chain.ts'
import { connectEvm, toContracts } from './evm.ts'
import { connectSolana } from './solana.ts'

export type Chains = {
  all: readonly ConnectedChain[]
  of(chainId: number): ConnectedChain
  evmOf(chainId: number): EvmParts
  solanaOf(chainId: number): SolanaOrigin
  custodyOf(chainId: number): ChainCustody
}

type Options = {
  network: NetworkConfig
  /** The name of this process in requests to nodes. */
  caller?: string
  /** Counts the calls to nodes. */
  calls?: Pick<CallMeter, 'watch'>
  urlsOf(chain: ChainConfig): readonly string[]
  accounts: readonly EvmSigner[]
  signers: readonly SolanaSigner[]
  /** Finds recorded transactions of payments on Solana; undefined if no payment is looked up. */
  findSigned: FindSigned | undefined
}

/** Connects every configured chain, without a call to a node. */
export function connectChains(options: Options): Chains {
  const { network, urlsOf } = options
  const places = new Map(network.chains.map((chain) => [chain.chainId, toPlace(chain)]))
  const custodyOf = (chainId: number) => get(places, chainId)
  const connected = network.chains.map((config): ConnectedChain => {
    const urls = urlsOf(config)
    const watches = options.calls?.watch(config.name, urls)
    const shared = { ...options, urls, watches, custodyOf, assertOutsideTransaction }
    const chain =
      config.family === 'evm' ? connectEvm({ ...shared, config }) : connectSolana({ ...shared, config })
    return withGate(chain)
  })
  const byId = new Map(connected.map((chain) => [chain.config.chainId, chain]))
  const of = (chainId: number) => get(byId, chainId)
  return {
    all: connected,
    of,
    custodyOf,
    evmOf: (chainId) => must(of(chainId).evm, chainId),
    solanaOf: (chainId) => must(of(chainId).solana, chainId),
  }
}

function withGate(connected: Ungated): ConnectedChain {
  const { config, chain, solana } = connected
  const gate = { isOpen: true }
  const { readTokenBalance } = guarded(connected, gate, config)
  const ways = chain.ways && guarded(chain.ways, gate, config)
  return {
    ...connected,
    readTokenBalance,
    gate,
    chain: guarded({ ...chain, ...(ways && { ways }) }, gate, config),
    ...(solana && { solana: { ...solana, builder: guardedBuilder(solana.builder, gate, config) } }),
  }
}

/** Checks a signed input without a node, so that a repeated submission is answered while the chain is closed. */
function guardedBuilder(builder: InputBuilder, gate: Gate, config: ChainConfig): InputBuilder {
  const { readPayer, build } = guarded(builder, gate, config)
  return { readPayer, build, check: (signed) => builder.check(signed) }
}

function toPlace(config: ChainConfig): ChainCustody {
  if (config.family === 'evm') return toContracts(config)
  return { program: config.program, vault: config.vault }
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

function must<T>(value: T | undefined, chainId: number): T {
  if (value === undefined) throw new Error(`Chain ${chainId} is of another family`)
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
  const { relayers, authorizationRelayers, deliverers } = network
  const evm = [...relayers, ...authorizationRelayers, ...deliverers].map((address) => getAddress(address))
  const solana = network.chains.flatMap((chain) =>
    chain.family === 'solana' ? [chain.vault, ...Object.values(chain.feePayers)] : [],
  )
  const { evm: evmFloat, solana: solanaFloat } = network.gasFloat ?? {}
  const floats = [...(evmFloat ? [getAddress(evmFloat)] : []), ...(solanaFloat ? [solanaFloat] : [])]
  return [...evm, ...solana, ...floats]
}

/** Verifies every chain against the configuration. */
export async function findDifferences(chains: {
  all: readonly Pick<ConnectedChain, 'verify'>[]
}): Promise<Findings> {
  return joinFindings(await mapOwn(chains.all, (chain) => chain.verify()))
}
