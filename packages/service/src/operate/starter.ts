import { formatUnits, parseUnits } from 'viem'
import type { KeyRole } from '../chains/families.ts'
import { TO_FILL_IN } from '../config/network-file.ts'
import { operateOf } from './families.ts'
import { addressesOf, type Caps, type Roles, thresholdOf } from './family.ts'
import type { Preset, PresetFeed, Source } from './presets.ts'

/** URLs by chain name. */
export type Nodes = Record<'rpcUrls' | 'attesterRpcUrls', ReadonlyMap<string, readonly string[]>>
const NO_NODES: Nodes = { rpcUrls: new Map(), attesterRpcUrls: new Map() }

// Whole coins worth about 10,000 dollars: what a stolen deliverer key can take of a token in an hour. An operator
// raises them with the volume.
const CAPS = new Map([
  ['ETH', '4'],
  ['BNB', '15'],
  ['POL', '40000'],
  ['SOL', '60'],
])
const STABLE_CAP = '10000'
// A quote takes at most a quarter of a claim cap.
const CLAIM_TIMES = 4n

export const HERMES = 'https://hermes.pyth.network'

/** A configuration of these chains, complete except for nodes and unknown roles. */
export function createStarter(presets: readonly Preset[], roles: Roles, nodes: Nodes = NO_NODES): object {
  const assets = assetsOf(presets)
  const usesPyth = presets.some(({ feeds }) => feeds.some(({ kind }) => kind === 'pyth'))
  const orFill = (role: KeyRole) => {
    const addresses = addressesOf(roles, role)
    return addresses.length > 0 ? addresses : [TO_FILL_IN]
  }
  return {
    network: presets.some(({ testnet }) => testnet) ? 'testnet' : 'mainnet',
    relayers: orFill('relayer'),
    authorizationRelayers: orFill('authorization-relayer'),
    deliverers: orFill('deliverer'),
    attesters: { members: orFill('attester'), threshold: thresholdOf(roles) },
    treasury: roles.treasury ?? TO_FILL_IN,
    chains: presets.map((preset) => toChain(preset, roles, nodes)),
    assets,
    pyth: usesPyth ? { url: HERMES } : undefined,
    venues: [{ kind: 'inventory', spreadBps: 5 }],
  }
}

export function toChain(preset: Preset, roles: Roles, nodes: Nodes): object {
  const { chainId, name, testnet, family, native, finality, blockMs, genesisHash } = preset
  const { l1FeeOracle, l1Gas, maxTipWei } = preset
  const { starter } = operateOf(preset)
  const capsFor = (asset: string) => starter.caps(capsOf(asset) ?? UNKNOWN_CAPS)
  return {
    chainId,
    name,
    testnet,
    family,
    rpcUrls: nodes.rpcUrls.get(name) ?? [TO_FILL_IN],
    attesterRpcUrls: nodes.attesterRpcUrls.get(name) ?? [TO_FILL_IN],
    ...starter.custody(roles),
    genesisHash: genesisHash?.value,
    native: { ...native, ...capsFor(native.asset) },
    tokens: preset.tokens.map(({ source: _, official: __, ...token }) => ({
      ...token,
      ...capsFor(token.asset),
    })),
    finality,
    blockMs,
    l1FeeOracle: l1FeeOracle?.address,
    l1Gas: l1Gas?.kind,
    maxTipWei,
  }
}

const UNKNOWN_CAPS = { capPerHour: TO_FILL_IN, claimCapPerHour: TO_FILL_IN, refundCapPerHour: TO_FILL_IN }
const MOST_DECIMALS = 36

/** In whole coins per hour: the chosen cap, or that of a known asset. Undefined for any other. */
export function capsOf(asset: string, chosen?: string): Caps | undefined {
  const cap = chosen ?? CAPS.get(asset) ?? (isStable(asset) ? STABLE_CAP : undefined)
  if (cap === undefined) return undefined
  const claimCapPerHour = formatUnits(parseUnits(cap, MOST_DECIMALS) * CLAIM_TIMES, MOST_DECIMALS)
  // Refunds are rare: the cap has room for the largest input that is quoted.
  return { capPerHour: cap, claimCapPerHour, refundCapPerHour: cap }
}

export const isStable = (asset: string) => asset.startsWith('USD')

type StarterAsset = {
  name: string
  usdStable: boolean | undefined
  sources: (Source | typeof TO_FILL_IN)[]
  minSources: number
}

/** All assets of the chains, each with the sources of all chains. */
export function assetsOf(presets: readonly Preset[]): StarterAsset[] {
  const served = presets.flatMap(({ native, tokens }) => [native.asset, ...tokens.map(({ asset }) => asset)])
  return [...new Set(served)].map((name) => {
    const found = presets.flatMap(({ chainId, feeds }) =>
      feeds.filter(({ asset }) => asset === name).map((feed) => toSource(feed, chainId)),
    )
    const distinct = new Map(found.map((source) => [JSON.stringify(source), source]))
    const sources = distinct.size > 0 ? [...distinct.values()] : [TO_FILL_IN]
    const minSources = sources.length > 2 ? 2 : 1
    return { name, usdStable: isStable(name) || undefined, sources, minSources }
  })
}

function toSource(feed: PresetFeed, chainId: number): Source {
  const { maxAgeSeconds } = feed
  if (feed.kind === 'pyth') return { kind: 'pyth', feedId: feed.feedId, maxAgeSeconds }
  const { address, description } = feed
  return { kind: 'chainlink', chainId, address, maxAgeSeconds, description }
}
