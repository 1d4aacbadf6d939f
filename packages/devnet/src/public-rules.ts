import { readPreset } from '@geoswap/service/presets'
import { createStarter } from '@geoswap/service/starter'

/** A chain's entry in the service's configuration, without the addresses. */
export type ChainRules = Readonly<Record<string, unknown>>

/** The entry that `service init` writes for this public chain: the network tests what operators get. */
export function publicRulesOf(name: string): ChainRules {
  const preset = readPreset(name)
  if (!preset) throw new Error(`There is no preset for ${name}`)
  const { chains } = createStarter([preset], { keys: [] }) as { chains: ChainRules[] }
  // A local chain has its own genesis.
  const { genesisHash: _, ...rules } = chains[0] ?? {}
  return rules
}
