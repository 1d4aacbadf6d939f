import { planDeployment } from '@geoswap/protocol'
import { getAddress } from 'viem'
import { TO_FILL_IN } from '../config/network-file.ts'
import type { Preset, PresetFeed, Source } from './presets.ts'

export type Roles = {
  treasury?: string | undefined
  attester?: string | undefined
  relayers: readonly string[]
  authorizationRelayers: readonly string[]
  deliverers: readonly string[]
  solana?: Partial<Record<'intake' | 'inventory' | 'input' | 'delivery', string>>
}

const HERMES = 'https://hermes.pyth.network'

/** A configuration of these chains, complete except for nodes and unknown roles. */
export function createStarter(presets: readonly Preset[], roles: Roles): object {
  const assets = assetsOf(presets)
  const usesPyth = presets.some(({ feeds }) => feeds.some(({ kind }) => kind === 'pyth'))
  const orFill = (addresses: readonly string[]) => (addresses.length > 0 ? addresses : [TO_FILL_IN])
  return {
    network: presets.some(({ testnet }) => testnet) ? 'testnet' : 'mainnet',
    relayers: orFill(roles.relayers),
    authorizationRelayers: orFill(roles.authorizationRelayers),
    deliverers: orFill(roles.deliverers),
    attester: roles.attester ?? TO_FILL_IN,
    treasury: roles.treasury ?? TO_FILL_IN,
    chains: presets.map((preset) => toChain(preset, roles)),
    assets,
    ...(usesPyth && { pyth: { url: HERMES } }),
    venues: [{ kind: 'inventory', spreadBps: 5 }],
  }
}

function toChain(preset: Preset, roles: Roles): object {
  const { chainId, name, testnet, family, native, finality, blockMs, genesisHash } = preset
  const { l1FeeOracle, l1Gas, maxTipWei } = preset
  return {
    chainId,
    name,
    ...(testnet && { testnet }),
    family,
    rpcUrls: [TO_FILL_IN],
    attesterRpcUrls: [TO_FILL_IN],
    ...(family === 'evm' ? { contracts: contractsOf(roles) } : solanaRolesOf(roles)),
    ...(genesisHash && { genesisHash: genesisHash.value }),
    native,
    tokens: preset.tokens.map(({ source: _, official: __, ...token }) => token),
    finality,
    blockMs,
    ...(l1FeeOracle && { l1FeeOracle: l1FeeOracle.address }),
    ...(l1Gas && { l1Gas: l1Gas.kind }),
    ...(maxTipWei && { maxTipWei }),
  }
}

/** The future addresses of the contracts, which follow from treasury and attester. */
function contractsOf({ treasury, attester }: Roles): object {
  if (!treasury || !attester) return { account: TO_FILL_IN, escrow: TO_FILL_IN, vault: TO_FILL_IN }
  return planDeployment({ treasury: getAddress(treasury), attester: getAddress(attester) }).contracts
}

function solanaRolesOf({ solana = {} }: Roles): object {
  const { intake = TO_FILL_IN, inventory = TO_FILL_IN, input = TO_FILL_IN, delivery = TO_FILL_IN } = solana
  return { vaults: { intake, inventory }, feePayers: { input, delivery } }
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
    const isStable = name.startsWith('USD')
    return { name, ...(isStable && { usdStable: true }), sources, minSources: sources.length > 2 ? 2 : 1 }
  })
}

function toSource(feed: PresetFeed, chainId: number): Source {
  const { maxAgeSeconds } = feed
  if (feed.kind === 'pyth') return { kind: 'pyth', feedId: feed.feedId, maxAgeSeconds }
  const { address, description } = feed
  return { kind: 'chainlink', chainId, address, maxAgeSeconds, ...(description && { description }) }
}
