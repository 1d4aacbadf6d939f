import type { Address } from 'viem'
import type { DeployedChain } from './deploy.ts'
import type { Keys } from './keys.ts'
import { ASSETS, type ChainPlan, FEED_MAX_AGE_SECONDS, NATIVE } from './plan.ts'

/** A chain that runs and has everything on it. */
export type ReadyChain = Omit<ChainPlan, 'tokens'> & DeployedChain & { rpcUrl: string; blockMs: number }

export type LocalToken = { symbol: string; address: string; decimals: number }
export type LocalChain = {
  chainId: number
  name: string
  family: 'evm' | 'solana'
  rpcUrl: string
  tokens: LocalToken[]
  contracts?: { account: Address; escrow: Address; vault: Address }
  vaults?: { intake: string; inventory: string }
}

/** `local.json`: what tools, examples and tests know about a running network. */
export type LocalNetwork = {
  apiUrl: string
  apiKey: string
  faucetUrl: string
  chains: LocalChain[]
  feeds: { asset: string; chainId: number; address: string; decimals: number }[]
}

export type ServiceChain = {
  chainId: number
  name: string
  family: 'evm'
  rpcUrls: string[]
  attesterRpcUrls: string[]
  contracts: { account: Address; escrow: Address; vault: Address }
  native: { symbol: string; asset: string }
  tokens: { symbol: string; address: Address; asset: string }[]
  finality: { accept: number; settle: number; hard: number }
  blockMs: number
  tipWei: string
}

/** `service.json`: the configuration that the service's processes share. It holds no secret. */
export type ServiceConfig = {
  network: 'local'
  relayers: Address[]
  deliverers: Address[]
  attester: Address
  chains: ServiceChain[]
  assets: {
    name: string
    usdStable: boolean
    feed: { chainId: number; address: Address; maxAgeSeconds: number }
  }[]
}

export function toLocalChain(chain: ReadyChain): LocalChain {
  const { chainId, name, rpcUrl, contracts } = chain
  const tokens = [NATIVE, ...chain.tokens].map(({ symbol, address, decimals }) => ({
    symbol,
    address,
    decimals,
  }))
  return { chainId, name, family: 'evm', rpcUrl, tokens, contracts }
}

export function toServiceConfig(chains: readonly ReadyChain[], keys: Keys): ServiceConfig {
  const feeds = chains.flatMap((chain) => chain.feeds)
  return {
    network: 'local',
    relayers: keys.relayers.map(({ address }) => address),
    deliverers: keys.deliverers.map(({ address }) => address),
    attester: keys.attester.address,
    chains: chains.map(toServiceChain),
    assets: ASSETS.map(({ name, usdStable }) => {
      const feed = feeds.find(({ asset }) => asset === name)
      if (!feed) throw new Error(`No price feed was deployed for ${name}`)
      const { chainId, address } = feed
      return { name, usdStable, feed: { chainId, address, maxAgeSeconds: FEED_MAX_AGE_SECONDS } }
    }),
  }
}

function toServiceChain(chain: ReadyChain): ServiceChain {
  const { chainId, name, rpcUrl, contracts, blockMs } = chain
  return {
    chainId,
    name,
    family: 'evm',
    rpcUrls: [rpcUrl],
    attesterRpcUrls: [rpcUrl],
    contracts,
    native: { symbol: NATIVE.symbol, asset: NATIVE.asset },
    tokens: chain.tokens.map(({ symbol, address, asset }) => ({ symbol, address, asset })),
    // By depth, in blocks: a local chain has no finality of its own.
    finality: { accept: 1, settle: 1, hard: 4 },
    blockMs,
    // Nobody competes for blocks here: a hundredth of a gwei keeps network costs small and above zero.
    tipWei: '10000000',
  }
}
