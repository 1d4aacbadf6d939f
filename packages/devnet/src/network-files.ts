import type { Address } from 'viem'
import type { DeployedSolanaChain } from './deploy-solana.ts'
import type { Keys } from './keys.ts'
import type { ChainPlan, SolanaPlan } from './plan.ts'
import { ASSETS, DISCOUNT_ASSET, FEED_MAX_AGE_SECONDS, NATIVE, NATIVE_SOL } from './plan.ts'
import type { DeployedUniswapV3, DeployedWithVenue } from './uniswap-v3/deploy-uniswap-v3.ts'

const FEED_LIMITS = { maxAgeSeconds: FEED_MAX_AGE_SECONDS }

/** A chain that runs and has everything on it. */
export type ReadyChain = Omit<ChainPlan, 'tokens'> & DeployedWithVenue & { rpcUrl: string; blockMs: number }
export type ReadySolanaChain = Pick<SolanaPlan, 'chainId' | 'name'> &
  DeployedSolanaChain & { rpcUrl: string; wsUrl: string; slotMs: number }
export type ReadyChains = { evm: ReadyChain[]; solana: ReadySolanaChain }

export type LocalToken = { symbol: string; address: string; decimals: number }
export type LocalChain = {
  chainId: number
  name: string
  family: 'evm' | 'solana'
  rpcUrl: string
  wsUrl?: string
  tokens: LocalToken[]
  contracts?: { account: Address; escrow: Address; vault: Address }
  uniswapV3?: DeployedUniswapV3
  vaults?: { intake: string; inventory: string }
}

/** `local.json`: what tools, examples and tests know about a running network. */
export type LocalNetwork = {
  apiUrl: string
  apiKey: string
  faucetUrl: string
  /** The operator's listener; its key is in secrets.json. */
  operatorUrl?: string
  /** Where each worker and the attester show their metrics; the API does at its own address. */
  metricsUrls: string[]
  chains: LocalChain[]
  feeds: { asset: string; chainId: number; address: string; decimals: number }[]
}

/** With decimals: a process that starts while the chain is silent has them from nowhere else. */
type ServiceToken = LocalToken & { asset: string }

type AnyServiceChain = {
  chainId: number
  name: string
  rpcUrls: string[]
  attesterRpcUrls: string[]
  native: { symbol: string; asset: string }
  tokens: ServiceToken[]
  finality: { accept: number; settle: number; hard: number }
  blockMs: number
}
export type EvmServiceChain = AnyServiceChain & {
  family: 'evm'
  contracts: { account: Address; escrow: Address; vault: Address }
  tipWei: string
}
export type SolanaServiceChain = AnyServiceChain & {
  family: 'solana'
  vaults: { intake: string; inventory: string }
  feePayers: { input: string; delivery: string }
  maxInFlight: number
}
export type ServiceChain = EvmServiceChain | SolanaServiceChain

/** `service.json`: the configuration that the service's processes share. It holds no secret. */
export type ServiceConfig = {
  network: 'local'
  relayers: Address[]
  authorizationRelayers: Address[]
  deliverers: Address[]
  attester: Address
  treasury: Address
  chains: ServiceChain[]
  discount: { asset: string }
  assets: {
    name: string
    usdStable: boolean
    sources: ServiceFeed[]
  }[]
  venues: ServiceVenue[]
  webhooks: { allowPrivateAddresses: boolean }
}

type ServiceFeed = {
  kind: 'chainlink'
  chainId: number
  address: Address
  maxAgeSeconds: number
  /** Where it is not the asset's name and ` / USD`. */
  description?: string
}

type ServiceVenue =
  | { kind: 'inventory' }
  | {
      kind: 'uniswap-v3'
      chainId: number
      quoter: Address
      adapter: Address
      pools: { sell: Address; buy: Address; fee: number }[]
    }

export function toLocalChains({ evm, solana }: ReadyChains): LocalChain[] {
  return [...evm.map(toLocalChain), toLocalSolanaChain(solana)]
}

function toLocalChain(chain: ReadyChain): LocalChain {
  const { chainId, name, rpcUrl, contracts, uniswapV3 } = chain
  const tokens = [NATIVE, ...chain.tokens].map(toLocalToken)
  return { chainId, name, family: 'evm', rpcUrl, tokens, contracts, uniswapV3 }
}

function toLocalSolanaChain(chain: ReadySolanaChain): LocalChain {
  const { chainId, name, rpcUrl, wsUrl, vaults } = chain
  const tokens = [NATIVE_SOL, ...chain.tokens].map(toLocalToken)
  return { chainId, name, family: 'solana', rpcUrl, wsUrl, tokens, vaults }
}

function toLocalToken({ symbol, address, decimals }: LocalToken): LocalToken {
  return { symbol, address, decimals }
}

export function toServiceConfig({ evm, solana }: ReadyChains, keys: Keys): ServiceConfig {
  const feeds = evm.flatMap((chain) => chain.feeds)
  return {
    network: 'local',
    relayers: keys.relayers.map(({ address }) => address),
    authorizationRelayers: keys.authorizationRelayers.map(({ address }) => address),
    deliverers: keys.deliverers.map(({ address }) => address),
    attester: keys.attester.address,
    treasury: keys.treasury.address,
    chains: [...evm.map(toEvmServiceChain), toSolanaServiceChain(solana)],
    discount: { asset: DISCOUNT_ASSET },
    assets: ASSETS.map(({ name, usdStable }) => {
      const sources = feeds
        .filter(({ asset }) => asset === name)
        .map(({ chainId, address }) => ({ kind: 'chainlink' as const, chainId, address, ...FEED_LIMITS }))
      return { name, usdStable, sources }
    }),
    venues: [{ kind: 'inventory' }, ...evm.map(toUniswapVenue)],
    // Receivers of a network on one machine are on that machine.
    webhooks: { allowPrivateAddresses: true },
  }
}

/** The vault pays with what the second token of each pool is. */
function toUniswapVenue({ chainId, uniswapV3 }: ReadyChain): ServiceVenue {
  const { quoter, adapter, pools } = uniswapV3
  return {
    kind: 'uniswap-v3',
    chainId,
    quoter,
    adapter,
    pools: pools.map(({ tokens: [buy, sell], fee }) => ({ sell, buy, fee })),
  }
}

function toServiceToken({ symbol, address, asset, decimals }: ServiceToken): ServiceToken {
  return { symbol, address, asset, decimals }
}

function toEvmServiceChain(chain: ReadyChain): EvmServiceChain {
  const { chainId, name, rpcUrl, contracts, blockMs } = chain
  return {
    chainId,
    name,
    family: 'evm',
    rpcUrls: [rpcUrl],
    attesterRpcUrls: [rpcUrl],
    contracts,
    native: { symbol: NATIVE.symbol, asset: NATIVE.asset },
    tokens: chain.tokens.map(toServiceToken),
    // By depth, in blocks: a local chain has no finality of its own.
    finality: { accept: 1, settle: 1, hard: 4 },
    blockMs,
    // Nobody competes for blocks here: a hundredth of a gwei keeps network costs small and above zero.
    tipWei: '10000000',
  }
}

function toSolanaServiceChain(chain: ReadySolanaChain): SolanaServiceChain {
  const { chainId, name, rpcUrl, vaults, feePayers, slotMs } = chain
  return {
    chainId,
    name,
    family: 'solana',
    rpcUrls: [rpcUrl],
    attesterRpcUrls: [rpcUrl],
    vaults,
    feePayers,
    native: { symbol: NATIVE_SOL.symbol, asset: NATIVE_SOL.asset },
    tokens: chain.tokens.map(toServiceToken),
    // In slots: the chain's own commitments, confirmed one behind and finalized 32.
    finality: { accept: 1, settle: 1, hard: 32 },
    blockMs: slotMs,
    // Transactions do not wait for each other here, as those of one EVM key do.
    maxInFlight: 64,
  }
}
