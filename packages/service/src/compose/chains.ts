import { type Address, getAddress, type PrivateKeyAccount, type PublicClient, zeroAddress } from 'viem'
import type { Chain } from '../chains/chain.ts'
import { createEvmChain } from '../chains/evm/chain.ts'
import { createEvmClient } from '../chains/evm/client.ts'
import { readDecimals, verifyChain } from '../chains/evm/verify.ts'
import type { ChainConfig, NetworkConfig } from '../config.ts'
import type { Catalog, CatalogChain, Token } from '../model/catalog.ts'
import { insideTransaction } from '../store/db.ts'

export type EvmContracts = { account: Address; escrow: Address; vault: Address }

export type ConnectedChain = {
  config: ChainConfig
  client: PublicClient
  chain: Chain
  contracts: EvmContracts
}

export type Chains = {
  all: readonly ConnectedChain[]
  of(chainId: number): ConnectedChain
}

type Options = {
  network: NetworkConfig
  urlsOf(chain: ChainConfig): readonly string[]
  accounts: readonly PrivateKeyAccount[]
}

/** Connects every configured chain. Nothing is asked of a node yet. */
export function connectChains({ network, urlsOf, accounts }: Options): Chains {
  const contractsOf = new Map(network.chains.map((chain) => [chain.chainId, toContracts(chain)]))
  const escrowOf = (chainId: number) => get(contractsOf, chainId).escrow
  const deliverer = getAddress(network.deliverers[0] ?? zeroAddress)
  const connected = network.chains.map((config): ConnectedChain => {
    const client = createEvmClient({ urls: urlsOf(config), assertOutsideTransaction })
    const contracts = get(contractsOf, config.chainId)
    const settings = {
      chainId: config.chainId,
      ...contracts,
      olderAccounts: (config.olderAccounts ?? []).map((address) => getAddress(address)),
      tokens: [zeroAddress, ...config.tokens.map((token) => getAddress(token.address))],
      finality: config.finality,
      tipWei: config.tipWei === undefined ? undefined : BigInt(config.tipWei),
      escrowOf,
    }
    return { config, client, contracts, chain: createEvmChain({ client, settings, accounts, deliverer }) }
  })
  const byId = new Map(connected.map((chain) => [chain.config.chainId, chain]))
  return { all: connected, of: (chainId) => get(byId, chainId) }
}

/** How long a head may stand still before the chain counts as down: five blocks, and at least 15 s. */
export function maxHeadAgeMs(chain: ChainConfig): number {
  return chain.maxHeadAgeMs ?? Math.max(15_000, 5 * chain.blockMs)
}

/** A transaction that waits for a node would hold its locks as long as the node likes. */
function assertOutsideTransaction(): void {
  if (insideTransaction()) throw new Error('A chain was called inside a database transaction')
}

function toContracts({ contracts }: ChainConfig): EvmContracts {
  return {
    account: getAddress(contracts.account),
    escrow: getAddress(contracts.escrow),
    vault: getAddress(contracts.vault),
  }
}

function get<T>(map: ReadonlyMap<number, T>, chainId: number): T {
  const value = map.get(chainId)
  if (value === undefined) throw new Error(`Chain ${chainId} is not configured`)
  return value
}

/** The keys a process was given must be those of the addresses it is configured to act for. */
export function assertKeysFor(addresses: readonly string[], accounts: readonly { address: Address }[]): void {
  const given = new Set(accounts.map((account) => account.address))
  const missing = addresses.map((address) => getAddress(address)).filter((address) => !given.has(address))
  if (missing.length > 0) throw new Error(`No private key was given for ${missing.join(', ')}`)
}

/** Asks every chain whether it is what the configuration says; names all problems at once. */
export async function verifyChains(network: NetworkConfig, chains: Chains): Promise<void> {
  const roles = {
    attester: getAddress(network.attester),
    deliverers: network.deliverers.map((address) => getAddress(address)),
  }
  const problems = await Promise.all(
    chains.all.map(({ client, config, contracts }) =>
      verifyChain(client, { ...config, contracts, ...roles }),
    ),
  )
  if (problems.flat().length > 0)
    throw new Error(`The chains are not as configured:\n- ${problems.flat().join('\n- ')}`)
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

async function loadChain({ config, client, contracts }: ConnectedChain): Promise<CatalogChain> {
  const { chainId, native, finality, blockMs } = config
  const tokens = await Promise.all(
    config.tokens.map(async ({ symbol, asset, address: text }): Promise<Token> => {
      const address = getAddress(text)
      return { chainId, address, symbol, asset, decimals: await readDecimals(client, address) }
    }),
  )
  return {
    chainId,
    name: config.name,
    family: config.family,
    nativeAsset: native.asset,
    tokens: [
      { chainId, address: zeroAddress, symbol: native.symbol, asset: native.asset, decimals: 18 },
      ...tokens,
    ],
    ownContracts: Object.values(contracts),
    hardSeconds: Math.ceil((finality.hard * blockMs) / 1_000),
    acceptSeconds: (finality.accept * blockMs) / 1_000,
    settleSeconds: (finality.settle * blockMs) / 1_000,
  }
}
