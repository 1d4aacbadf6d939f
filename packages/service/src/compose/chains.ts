import { getAddress, isAddress, type PrivateKeyAccount } from 'viem'
import type { Chain, InputBuilder } from '../chains/chain.ts'
import type { CustodyChain } from '../chains/custody.ts'
import { type Findings, joinFindings } from '../chains/findings.ts'
import type { RecoveryChain } from '../chains/recovery.ts'
import type { FindSigned } from '../chains/solana/signed-payments.ts'
import type { SolanaSigner } from '../chains/solana/signer.ts'
import type { ViewReader } from '../chains/view.ts'
import { blockSecondsOf, finalityOf } from '../config/finality.ts'
import type { ChainConfig, NetworkConfig, Secret } from '../config.ts'
import type { HeadNews } from '../lanes/chain-follower.ts'
import type { Catalog, CatalogChain, Token } from '../model/catalog.ts'
import type { ChainCustody } from '../model/op-terms.ts'
import { insideTransaction } from '../store/db.ts'
import { connectEvm, type EvmParts, toContracts } from './evm.ts'
import { type Gate, guarded } from './gate.ts'
import { connectSolana, type SolanaOrigin } from './solana.ts'

/**
 * Keys that send transactions here: for inputs, claims and refunds, for inputs with an authorization, and for
 * deliveries.
 */
export type Senders = Record<'relay' | 'authorize' | 'deliver', readonly string[]>

/** A chain of whichever family, with what the processes need of it. */
export type ConnectedChain = {
  config: ChainConfig
  chain: Chain
  /** What the books need of it. */
  custody: CustodyChain
  /** What can be found out without the database. */
  recovery: RecoveryChain
  /** For the one process that follows the chain. */
  view: ViewReader
  /** Where nodes tell of new heads; undefined where none is configured to. */
  listenToHeads?(told: { onHead(): void; onFault(error: unknown): void }): HeadNews | undefined
  senders: Senders
  /** Of the senders, those that get nothing new. */
  retiring: readonly string[]
  maxAmount: bigint
  nativeToken: Pick<Token, 'address' | 'decimals'>
  ownAddresses: readonly string[]
  /** Every way in which the chain and its nodes differ from the configuration. */
  verify(): Promise<Findings>
  loadTokens(): Promise<Token[]>
  /** Of a sender, in the smallest unit of the chain's own coin. */
  readGasBalance(address: string): Promise<bigint>
  /** What anyone holds of a token or of the chain's own coin. */
  readTokenBalance(owner: string, token: string): Promise<bigint>
  evm?: EvmParts
  solana?: SolanaOrigin
  /** Closed while it is not known whether the chain is what the configuration says. */
  gate: Gate
}

/** Before it has a gate. */
export type Ungated = Omit<ConnectedChain, 'gate'>

export type Chains = {
  all: readonly ConnectedChain[]
  of(chainId: number): ConnectedChain
  evmOf(chainId: number): EvmParts
  solanaOf(chainId: number): SolanaOrigin
  custodyOf(chainId: number): ChainCustody
}

type Options = {
  network: NetworkConfig
  /** How requests to nodes name who asks. */
  caller?: string
  urlsOf(chain: ChainConfig): readonly string[]
  accounts: readonly PrivateKeyAccount[]
  signers: readonly SolanaSigner[]
  markerKey: Secret | undefined
  /** What is on record as signed for payments on Solana; undefined where no payment is looked up. */
  findSigned: FindSigned | undefined
}

/** Connects every configured chain. Nothing is asked of a node yet. */
export function connectChains(options: Options): Chains {
  const { network, urlsOf } = options
  const places = new Map(network.chains.map((chain) => [chain.chainId, toPlace(chain)]))
  const custodyOf = (chainId: number) => get(places, chainId)
  const connected = network.chains.map((config): ConnectedChain => {
    const shared = { ...options, urls: urlsOf(config), custodyOf, assertOutsideTransaction }
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
  return {
    ...{ ...connected, readTokenBalance },
    ...{ gate, chain: guarded(chain, gate, config) },
    ...(solana && { solana: { ...solana, builder: guardedBuilder(solana.builder, gate, config) } }),
  }
}

/** What a wallet signed is checked without a node: a submission that was answered once is answered again. */
function guardedBuilder(builder: InputBuilder, gate: Gate, config: ChainConfig): InputBuilder {
  const { readPayer, build } = guarded(builder, gate, config)
  return { readPayer, build, check: (signed) => builder.check(signed) }
}

/** The keys of a chain that take on new work. */
export function activeOf({ senders, retiring }: ConnectedChain, role: keyof Senders): string[] {
  return senders[role].filter((address) => !retiring.includes(address))
}

function toPlace(config: ChainConfig): ChainCustody {
  if (config.family === 'evm') return toContracts(config)
  return { intake: config.vaults.intake, vault: config.vaults.inventory }
}

/** A transaction that waits for a node would hold its locks as long as the node likes. */
function assertOutsideTransaction(): void {
  if (insideTransaction()) throw new Error('A chain was called inside a database transaction')
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

/** The keys a process was given must be those of the addresses it is configured to act for. */
export function assertKeysFor(addresses: readonly string[], keys: readonly { address: string }[]): void {
  const given = new Set(keys.map((key) => key.address))
  const missing = addresses.filter((address) => !given.has(address))
  if (missing.length > 0) throw new Error(`No private key was given for ${missing.join(', ')}`)
}

/** Every address of the configuration that a worker signs for. */
export function signingAddresses(network: NetworkConfig): string[] {
  const { relayers, authorizationRelayers, deliverers } = network
  const evm = [...relayers, ...authorizationRelayers, ...deliverers].map((address) => getAddress(address))
  const solana = network.chains.flatMap((chain) =>
    chain.family === 'solana' ? [...Object.values(chain.vaults), ...Object.values(chain.feePayers)] : [],
  )
  const { evm: evmFloat, solana: solanaFloat } = network.gasFloat ?? {}
  const floats = [...(evmFloat ? [getAddress(evmFloat)] : []), ...(solanaFloat ? [solanaFloat] : [])]
  return [...evm, ...solana, ...floats]
}

/** Asks every chain whether it is what the configuration says. */
export async function findDifferences(chains: {
  all: readonly Pick<ConnectedChain, 'verify'>[]
}): Promise<Findings> {
  return joinFindings(await Promise.all(chains.all.map((chain) => chain.verify())))
}

/** What can be swapped, with decimals as the chains have them. */
export async function loadCatalog(network: NetworkConfig, chains: Chains): Promise<Catalog> {
  const entries = await Promise.all(chains.all.map(loadChain))
  return {
    chains: new Map(entries.map((chain) => [chain.chainId, chain])),
    assets: new Map(
      network.assets.map(({ name, usdStable = false }) => [name, { name, usdStable }] as const),
    ),
  }
}

async function loadChain(connected: ConnectedChain): Promise<CatalogChain> {
  const { config, maxAmount, ownAddresses } = connected
  const { chainId, name, family } = config
  const native = { chainId, ...config.native, ...connected.nativeToken }
  return {
    ...{ chainId, name, family, native, maxAmount, ownAddresses },
    tokens: [native, ...(connected.gate.isOpen ? await connected.loadTokens() : tokensOf(config))],
    finality: finalityOf(config),
    blockSeconds: blockSecondsOf(config),
  }
}

/** Of a chain that does not answer, as the file has them: it has to confirm them before anything is done. */
function tokensOf({ chainId, name, tokens }: ChainConfig): Token[] {
  return tokens.map(({ symbol, asset, address, decimals }) => {
    if (decimals === undefined)
      throw new Error(
        `Chain ${name} does not answer, and the file does not say how many decimals ${symbol} has`,
      )
    return { chainId, symbol, asset, decimals, address: isAddress(address) ? getAddress(address) : address }
  })
}
