import { planDeployment } from '@geoswap/protocol'
import { getAddress } from 'viem'
import { TO_FILL_IN } from '../config/network-file.ts'
import { defaultExposureCapUsd, defaultUnclaimedCapUsd } from '../config.ts'
import type { Preset, PresetFeed, Source } from './presets.ts'

export type Roles = {
  treasury?: string | undefined
  attesters: readonly string[]
  /** Default: a majority of the attesters. */
  threshold?: number | undefined
  relayers: readonly string[]
  authorizationRelayers: readonly string[]
  deliverers: readonly string[]
  solana?: Partial<Record<'program' | 'vault' | 'attester' | 'input' | 'delivery', string>>
}

/** URLs by chain name. */
export type Nodes = Record<'rpcUrls' | 'attesterRpcUrls', ReadonlyMap<string, readonly string[]>>
const NO_NODES: Nodes = { rpcUrls: new Map(), attesterRpcUrls: new Map() }

// Whole coins worth about 10,000 dollars: what a stolen deliverer key can take of a token in an hour. An operator
// raises them with the volume.
const CAPS = new Map([
  ['ETH', 4n],
  ['BNB', 15n],
  ['POL', 40_000n],
  ['SOL', 60n],
])
const STABLE_CAP = 10_000n
// A quote takes at most a quarter of a claim cap.
const CLAIM_TIMES = 4n

const HERMES = 'https://hermes.pyth.network'

/** A configuration of these chains, complete except for nodes and unknown roles. */
export function createStarter(presets: readonly Preset[], roles: Roles, nodes: Nodes = NO_NODES): object {
  const assets = assetsOf(presets)
  const usesPyth = presets.some(({ feeds }) => feeds.some(({ kind }) => kind === 'pyth'))
  const orFill = (addresses: readonly string[]) => (addresses.length > 0 ? addresses : [TO_FILL_IN])
  return {
    network: presets.some(({ testnet }) => testnet) ? 'testnet' : 'mainnet',
    relayers: orFill(roles.relayers),
    authorizationRelayers: orFill(roles.authorizationRelayers),
    deliverers: orFill(roles.deliverers),
    attesters: { members: orFill(roles.attesters), threshold: thresholdOf(roles) },
    treasury: roles.treasury ?? TO_FILL_IN,
    chains: presets.map((preset) => toChain(preset, roles, nodes)),
    assets,
    ...(usesPyth && { pyth: { url: HERMES } }),
    venues: [{ kind: 'inventory', spreadBps: 5 }],
  }
}

function toChain(preset: Preset, roles: Roles, nodes: Nodes): object {
  const { chainId, name, testnet, family, native, finality, blockMs, genesisHash } = preset
  const { l1FeeOracle, l1Gas, maxTipWei } = preset
  return {
    chainId,
    name,
    ...(testnet && { testnet }),
    family,
    rpcUrls: nodes.rpcUrls.get(name) ?? [TO_FILL_IN],
    attesterRpcUrls: nodes.attesterRpcUrls.get(name) ?? [TO_FILL_IN],
    ...(family === 'evm' ? { contracts: contractsOf(roles) } : solanaRolesOf(roles)),
    ...(genesisHash && { genesisHash: genesisHash.value }),
    native: { ...native, ...capsOn(family, native.asset) },
    tokens: preset.tokens.map(({ source: _, official: __, ...token }) => ({
      ...token,
      ...capsOn(family, token.asset),
    })),
    finality,
    blockMs,
    exposureCapUsd: defaultExposureCapUsd,
    unclaimedCapUsd: defaultUnclaimedCapUsd,
    ...(l1FeeOracle && { l1FeeOracle: l1FeeOracle.address }),
    ...(l1Gas && { l1Gas: l1Gas.kind }),
    ...(maxTipWei && { maxTipWei }),
  }
}

/** On Solana the service keeps the cap of the vault, and the program has none for claims and refunds. */
function capsOn(family: Preset['family'], asset: string): object {
  const { capPerHour, ...onChain } = hourlyCapsOf(asset)
  return family === 'evm' ? { capPerHour, ...onChain } : { capPerHour }
}

/** Caps of the contracts, in whole coins per hour. */
function hourlyCapsOf(asset: string) {
  const cap = CAPS.get(asset) ?? (isStable(asset) ? STABLE_CAP : undefined)
  if (cap === undefined)
    return { capPerHour: TO_FILL_IN, claimCapPerHour: TO_FILL_IN, refundCapPerHour: TO_FILL_IN }
  // Refunds are rare: the cap has room for the largest input that is quoted.
  const refundCapPerHour = String(cap)
  return { capPerHour: String(cap), claimCapPerHour: String(cap * CLAIM_TIMES), refundCapPerHour }
}

const isStable = (asset: string) => asset.startsWith('USD')

function thresholdOf({ attesters, threshold }: Roles): number {
  return threshold ?? Math.floor(attesters.length / 2) + 1
}

/** The future addresses of the contracts, which follow from treasury and attesters. */
function contractsOf(roles: Roles): object {
  const { treasury, attesters } = roles
  if (!treasury || attesters.length === 0)
    return { account: TO_FILL_IN, escrow: TO_FILL_IN, vault: TO_FILL_IN }
  return planDeployment({
    treasury: getAddress(treasury),
    attesters: attesters.map((address) => getAddress(address)),
    threshold: thresholdOf(roles),
  }).contracts
}

function solanaRolesOf({ solana = {} }: Roles): object {
  const orFill = (role: keyof typeof solana) => solana[role] ?? TO_FILL_IN
  return {
    program: orFill('program'),
    vault: orFill('vault'),
    attester: orFill('attester'),
    feePayers: { input: orFill('input'), delivery: orFill('delivery') },
  }
}

type StarterAsset = {
  name: string
  usdStable?: true
  sources: (Source | typeof TO_FILL_IN)[]
  minSources: number
}

/** All assets of the chains, each with the sources of all chains. */
function assetsOf(presets: readonly Preset[]): StarterAsset[] {
  const served = presets.flatMap(({ native, tokens }) => [native.asset, ...tokens.map(({ asset }) => asset)])
  return [...new Set(served)].map((name) => {
    const found = presets.flatMap(({ chainId, feeds }) =>
      feeds.filter(({ asset }) => asset === name).map((feed) => toSource(feed, chainId)),
    )
    const distinct = new Map(found.map((source) => [JSON.stringify(source), source]))
    const sources = distinct.size > 0 ? [...distinct.values()] : [TO_FILL_IN]
    const minSources = sources.length > 2 ? 2 : 1
    return { name, ...(isStable(name) && { usdStable: true as const }), sources, minSources }
  })
}

function toSource(feed: PresetFeed, chainId: number): Source {
  const { maxAgeSeconds } = feed
  if (feed.kind === 'pyth') return { kind: 'pyth', feedId: feed.feedId, maxAgeSeconds }
  const { address, description } = feed
  return { kind: 'chainlink', chainId, address, maxAgeSeconds, ...(description && { description }) }
}
