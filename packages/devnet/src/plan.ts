import { type Address as SolanaAddress, address as toSolanaAddress } from '@solana/kit'
import { TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import { type Address, zeroAddress } from 'viem'
import { EVM_SHAPES, type EvmShapeName } from './shape/evm-shape.ts'

// A network as data: chains, tokens, start prices, inventory.

export type AssetPlan = { name: string; usdStable: boolean; usdE8: bigint }
export type TokenPlan = { symbol: string; name: string; asset: string; decimals: number }
export type ChainPlan = {
  chainId: number
  name: string
  /** Used if it is free. */
  port: number
  tokens: readonly TokenPlan[]
  /** Between blocks or slots; tests may choose another. */
  blockMs: number
  feedPlan: FeedPlan
  /** The public chain that this one imitates. Its finality is that of the preset with this name. */
  shape?: EvmShapeName
}
/** How often a feed is updated, and the age at which its price is stale. */
type FeedPlan = { everySeconds: number; maxAgeSeconds: number }

/** A token of Solana is an account of its program and has no name on the chain. */
export type MintPlan = Omit<TokenPlan, 'name'> & { program: SolanaAddress }
export type SolanaPlan = Pick<ChainPlan, 'chainId' | 'name' | 'port' | 'blockMs'> & {
  tokens: readonly MintPlan[]
  shape?: 'solana'
}

export const SHAPES = ['local', 'mainnet'] as const
export type Shape = (typeof SHAPES)[number]
export type NetworkPlan = {
  evm: readonly ChainPlan[]
  solana: SolanaPlan
  /** The two chains of the example swap. */
  example: readonly [from: string, to: string]
}

export const FEED_DECIMALS = 8
export const INVENTORY_USD = 10_000_000n
/** The hourly claim cap in inventories. A swap may use a quarter of a cap, so this cap limits none. */
export const CLAIM_CAP_TIMES = 100n
export const NATIVE = { symbol: 'ETH', asset: 'ETH', address: zeroAddress as Address, decimals: 18 }
export const NATIVE_SOL = {
  symbol: 'SOL',
  asset: 'SOL',
  address: toSolanaAddress('11111111111111111111111111111111'),
  decimals: 9,
}

export const ASSETS: readonly AssetPlan[] = [
  { name: 'USDC', usdStable: true, usdE8: 100_000_000n },
  { name: 'ETH', usdStable: false, usdE8: 250_000_000_000n },
  { name: 'SOL', usdStable: false, usdE8: 15_000_000_000n },
  { name: 'GEO', usdStable: false, usdE8: 50_000_000n },
  { name: 'USDG', usdStable: true, usdE8: 100_000_000n },
  { name: 'LINK', usdStable: false, usdE8: 2_000_000_000n },
]

/** The service's token: its holders pay a lower fee. */
export const DISCOUNT_ASSET = 'GEO'

const WETH: TokenPlan = { symbol: 'WETH', name: 'Wrapped Ether', asset: 'ETH', decimals: 18 }
const GEO: TokenPlan = { symbol: 'GEO', name: 'Geo', asset: 'GEO', decimals: 18 }

const LOCAL_CHAIN = { blockMs: 1_000, feedPlan: { everySeconds: 30, maxAgeSeconds: 60 } }

export const EVM_CHAINS: readonly ChainPlan[] = [
  { chainId: 31337, name: 'alpha', port: 8545, tokens: [usdc(6), WETH, GEO], ...LOCAL_CHAIN },
  // The same asset with other decimals: code that derives them from the symbol fails on one of the two.
  { chainId: 31338, name: 'beta', port: 8546, tokens: [usdc(18), WETH, GEO], ...LOCAL_CHAIN },
]

const TOKEN_2022_PROGRAM = toSolanaAddress('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb')

export const SOLANA_CHAIN: SolanaPlan = {
  chainId: 31339,
  name: 'solana',
  port: 8899,
  blockMs: 400,
  tokens: [
    { symbol: 'USDC', asset: 'USDC', decimals: 6, program: TOKEN_PROGRAM_ADDRESS },
    { symbol: 'GEO', asset: 'GEO', decimals: 9, program: TOKEN_PROGRAM_ADDRESS },
    // A mint of the other token program: code that assumes the first one finds no account.
    { symbol: 'USDG', asset: 'USDG', decimals: 6, program: TOKEN_2022_PROGRAM },
  ],
}

const PUBLIC_CHAINS: readonly ChainPlan[] = [
  publicChain({ chainId: 31340, name: 'ethereum', port: 8547 }),
  publicChain({ chainId: 31341, name: 'base', port: 8548 }),
  publicChain({ chainId: 31342, name: 'arbitrum', port: 8549 }),
]

const PLANS: Record<Shape, NetworkPlan> = {
  local: { evm: EVM_CHAINS, solana: SOLANA_CHAIN, example: ['alpha:USDC', 'beta:USDC'] },
  mainnet: {
    evm: PUBLIC_CHAINS,
    solana: { ...SOLANA_CHAIN, shape: 'solana' },
    example: ['base:USDC', 'arbitrum:USDC'],
  },
}

export function planOf(shape: Shape): NetworkPlan {
  return PLANS[shape]
}

/** A token that the operator does not hold: the chain's pools sell it. */
export const LINK: TokenPlan = { symbol: 'LINK', name: 'ChainLink Token', asset: 'LINK', decimals: 18 }

/** The pools of each EVM chain, at the start prices; the fee is in millionths. */
export const POOLS = [
  { symbols: ['LINK', 'USDC'], fee: 3_000 },
  { symbols: ['WETH', 'USDC'], fee: 500 },
] as const
/** On each side of a pool. */
export const POOL_SIDE_USD = 10_000_000n

/** The amount of a token with this value at the start prices, in its smallest unit. */
export function amountWorth(usd: bigint, token: { asset: string; decimals: number }): bigint {
  const asset = ASSETS.find(({ name }) => name === token.asset)
  if (!asset) throw new Error(`No start price for ${token.asset}`)
  return (usd * 10n ** BigInt(FEED_DECIMALS + token.decimals)) / asset.usdE8
}

function usdc(decimals: number): TokenPlan {
  return { symbol: 'USDC', name: 'USD Coin', asset: 'USDC', decimals }
}

/** USDC has 6 decimals on each of them, as on the imitated chain. */
function publicChain(chain: Pick<ChainPlan, 'chainId' | 'port'> & { name: EvmShapeName }): ChainPlan {
  const { blockMs } = EVM_SHAPES[chain.name]
  const everySeconds = 60
  // An update waits for the keeper, then for a block, then for a lagging node: five blocks and half a minute.
  const maxAgeSeconds = everySeconds + 30 + (5 * blockMs) / 1_000
  return {
    ...chain,
    blockMs,
    tokens: [usdc(6), WETH, GEO],
    feedPlan: { everySeconds, maxAgeSeconds: Math.ceil(maxAgeSeconds) },
    shape: chain.name,
  }
}
