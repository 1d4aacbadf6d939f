import { type Address, formatUnits } from 'viem'
import type { DeployedSolanaChain } from './deploy-solana.ts'
import type { Keys } from './keys.ts'
import type { ChainPlan, SolanaPlan } from './plan.ts'
import { ASSETS, amountWorth, DISCOUNT_ASSET, INVENTORY_USD, NATIVE, NATIVE_SOL } from './plan.ts'
import type { ChainRules } from './public-rules.ts'
import type { ChainUrls } from './start-chain.ts'
import type { DeployedUniswapV3, DeployedWithVenue } from './uniswap-v3/deploy-uniswap-v3.ts'

/** The account of the API key. */
export const LOCAL_ACCOUNT = 'local'

/** A running chain with everything deployed. */
export type ReadyChain = Omit<ChainPlan, 'tokens'> & DeployedWithVenue & ChainUrls & Rules
/** Of the public chain that this one imitates. */
type Rules = { publicRules: ChainRules | undefined }
export type ReadySolanaChain = Omit<SolanaPlan, 'tokens'> &
  DeployedSolanaChain &
  ChainUrls &
  Rules & { wsUrl: string }
export type ReadyChains = { evm: ReadyChain[]; solana: ReadySolanaChain }

type LocalToken = { symbol: string; address: string; decimals: number }
export type LocalShape = {
  blockMs: number
  /** Accepts the `shape_` controls, `shape_readMeter` included. */
  controlUrl: string
  /** The node itself, without meter, limit and lag. */
  nodeUrl: string
}
export type LocalChain = {
  chainId: number
  name: string
  family: 'evm' | 'solana'
  rpcUrl: string
  wsUrl?: string
  /** Present on a chain that behaves like a public one. */
  shape?: LocalShape
  tokens: LocalToken[]
  contracts?: { account: Address; escrow: Address; vault: Address }
  uniswapV3?: DeployedUniswapV3
  /** On Solana: the escrow program, the authority of the vault, and the attester's key. */
  program?: string
  vault?: string
  attester?: string
}

export type LocalPins = { account?: string; escrow: string; vault: string; attester?: string }

/** `local.json`: the description of a running network for tools, examples and tests. */
export type LocalNetwork = {
  apiUrl: string
  apiKey: string
  faucetUrl: string
  /** The operator's listener; its key is in secrets.json. */
  operatorUrl?: string
  /** The metrics endpoints of each worker and attester; the API serves its own. */
  metricsUrls: string[]
  chains: LocalChain[]
  /**
   * By chain: the contracts that wallets of this network may sign for, in the format of the SDK's
   * `contracts`.
   */
  pins: Record<number, LocalPins>
  feeds: { asset: string; chainId: number; address: string; decimals: number }[]
}

/** Includes the decimals, because a process that starts while the chain is down has no other source. */
type ServiceToken = LocalToken & { asset: string; capPerHour?: string }

type AnyServiceChain = {
  chainId: number
  name: string
  rpcUrls: string[]
  attesterRpcUrls: string[]
  native: { symbol: string; asset: string; capPerHour?: string }
  tokens: ServiceToken[]
}
type EvmServiceChain = AnyServiceChain & {
  family: 'evm'
  contracts: { account: Address; escrow: Address; vault: Address }
}
type SolanaServiceChain = AnyServiceChain & {
  family: 'solana'
  program: string
  vault: string
  attester: string
  feePayers: { input: string; delivery: string }
}
type ServiceChain = (EvmServiceChain | SolanaServiceChain) & ChainRules

/** `service.json`: the configuration that the service's processes share. It contains no secret. */
export type ServiceConfig = {
  network: 'local'
  relayers: Address[]
  authorizationRelayers: Address[]
  deliverers: Address[]
  attesters: { members: Address[]; threshold: number }
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
  x402: { account: string; callsPerMinute: number }
}

type ServiceFeed = {
  kind: 'chainlink'
  chainId: number
  address: Address
  maxAgeSeconds: number
  /** Present if it differs from the asset's name and ` / USD`. */
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

export function toLocalPins({ evm, solana }: ReadyChains): Record<number, LocalPins> {
  const { program: escrow, vault, attester } = solana
  const contracts = evm.map(({ chainId, contracts }) => [chainId, contracts] as const)
  return { ...Object.fromEntries(contracts), [solana.chainId]: { escrow, vault, attester } }
}

function toLocalChain(chain: ReadyChain): LocalChain {
  const { chainId, name, rpcUrl, contracts, uniswapV3 } = chain
  const tokens = [NATIVE, ...chain.tokens].map(toLocalToken)
  return { chainId, name, family: 'evm', rpcUrl, ...shapeOf(chain), tokens, contracts, uniswapV3 }
}

function toLocalSolanaChain(chain: ReadySolanaChain): LocalChain {
  const { chainId, name, rpcUrl, wsUrl, program, vault, attester } = chain
  const tokens = [NATIVE_SOL, ...chain.tokens].map(toLocalToken)
  const custody = { program, vault, attester }
  return { chainId, name, family: 'solana', rpcUrl, ...shapeOf(chain), wsUrl, tokens, ...custody }
}

function shapeOf(chain: ReadyChain | ReadySolanaChain): { shape?: LocalShape } {
  const { shape, blockMs, rpcUrl, nodeUrl } = chain
  return shape === undefined ? {} : { shape: { blockMs, controlUrl: rpcUrl, nodeUrl } }
}

function toLocalToken({ symbol, address, decimals }: LocalToken): LocalToken {
  return { symbol, address, decimals }
}

export function toServiceConfig({ evm, solana }: ReadyChains, keys: Keys, nodes = 1): ServiceConfig {
  const chains = [...evm.map(toEvmServiceChain), toSolanaServiceChain(solana)]
  return {
    network: 'local',
    relayers: keys.relayers.map(({ address }) => address),
    authorizationRelayers: keys.authorizationRelayers.map(({ address }) => address),
    deliverers: keys.deliverers.map(({ address }) => address),
    attesters: { members: keys.attesters.map(({ address }) => address), threshold: keys.threshold },
    treasury: keys.treasury.address,
    chains: chains.map((chain) => ({
      ...chain,
      rpcUrls: chain.rpcUrls.flatMap((url) => nodesAt(url, nodes)),
      attesterRpcUrls: chain.attesterRpcUrls.flatMap((url) => nodesAt(url, nodes)),
    })),
    discount: { asset: DISCOUNT_ASSET },
    assets: ASSETS.map(({ name, usdStable }) => ({
      name,
      usdStable,
      sources: evm.flatMap((chain) => toSources(chain, name)),
    })),
    venues: [{ kind: 'inventory' }, ...evm.map(toUniswapVenue)],
    // The receivers of a local network are on the same machine.
    webhooks: { allowPrivateAddresses: true },
    // Payers need no key: their swaps are of the account whose key is printed.
    x402: { account: LOCAL_ACCOUNT, callsPerMinute: 600 },
  }
}

/** One chain under several URLs: its meter names each apart. */
function nodesAt(url: string, nodes: number): string[] {
  return Array.from({ length: nodes }, (_, index) => {
    const node = new URL(url)
    if (index > 0) node.searchParams.set('node', String(index + 1))
    return index === 0 ? url : node.href
  })
}

function toSources({ chainId, feeds, feedPlan }: ReadyChain, asset: string): ServiceFeed[] {
  const { maxAgeSeconds } = feedPlan
  return feeds
    .filter((feed) => feed.asset === asset)
    .map(({ address }) => ({ kind: 'chainlink', chainId, address, maxAgeSeconds }))
}

/** The vault pays with the second token of each pool. */
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

function toEvmServiceChain(chain: ReadyChain): ServiceChain {
  const { chainId, name, rpcUrl, nodeUrl, attesterUrl, contracts, shape, publicRules } = chain
  return {
    ...(publicRules ? { ...publicRules, ...EARLY_CAPS } : localRulesOf(chain)),
    chainId,
    name,
    family: 'evm',
    rpcUrls: [rpcUrl],
    // A proxy in front of a local node forwards requests only.
    wsUrls: [(shape ? rpcUrl : nodeUrl).replace(/^http/, 'ws')],
    attesterRpcUrls: [attesterUrl],
    contracts,
    native: { symbol: NATIVE.symbol, asset: NATIVE.asset },
    tokens: chain.tokens.map(toServiceToken),
  }
}

function localRulesOf({ blockMs }: ReadyChain): ChainRules {
  return {
    // Finality by depth in blocks: a local chain has no finality of its own.
    finality: { accept: [{ depth: 1 }], settle: 1, reorgWindowSeconds: 4, hard: 4 },
    blockMs,
    ...CAPS,
    // Nobody competes for blocks here: a hundredth of a gwei keeps network costs small and above zero.
    tipWei: '10000000',
  }
}

// Those of an operator with half a million; nothing but tests claims less than is delivered.
const EARLY_CAPS = { exposureCapUsd: 25_000, fastCapUsd: 125_000 }
const CAPS = { ...EARLY_CAPS, unclaimedCapUsd: 1_000_000_000 }

function toSolanaServiceChain(chain: ReadySolanaChain): ServiceChain {
  const { chainId, name, rpcUrl, attesterUrl, program, vault, attester, feePayers, publicRules } = chain
  return {
    ...(publicRules ? { ...publicRules, ...EARLY_CAPS } : localSolanaRulesOf(chain)),
    chainId,
    name,
    family: 'solana',
    rpcUrls: [rpcUrl],
    attesterRpcUrls: [attesterUrl],
    program,
    vault,
    attester,
    feePayers,
    // As on the EVM chains, the hourly cap equals the inventory.
    native: { symbol: NATIVE_SOL.symbol, asset: NATIVE_SOL.asset, capPerHour: inventoryOf(NATIVE_SOL) },
    tokens: chain.tokens.map((token) => ({ ...toServiceToken(token), capPerHour: inventoryOf(token) })),
  }
}

/** In whole coins. */
const inventoryOf = (token: Parameters<typeof amountWorth>[1] & { decimals: number }) =>
  formatUnits(amountWorth(INVENTORY_USD, token), token.decimals)

function localSolanaRulesOf({ blockMs }: ReadySolanaChain): ChainRules {
  return {
    // In slots, by the chain's own commitments: confirmed is 1 behind and finalized 32.
    finality: { accept: [{ depth: 1 }], settle: 1, reorgWindowSeconds: 4, hard: 32 },
    blockMs,
    ...CAPS,
  }
}
