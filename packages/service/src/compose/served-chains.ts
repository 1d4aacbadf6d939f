import { getAddress, parseUnits } from 'viem'
import { finalityOf } from '../config/finality.ts'
import {
  type ChainConfig,
  defaultExposureCapUsd,
  defaultUnclaimedCapUsd,
  type NetworkConfig,
} from '../config.ts'
import type { GasFloat, ServedChain } from '../model/served-chain.ts'
import type { ConnectedChain } from './connected-chain.ts'

type Connected = Pick<ConnectedChain, 'config' | 'nativeToken' | 'senders' | 'retiring'>

/** The configured facts of each chain, with their defaults. */
export function toServedChains(network: NetworkConfig, chains: readonly Connected[]): ServedChain[] {
  return chains.map((chain) => {
    const { config, nativeToken, senders, retiring } = chain
    const { chainId, name, family, rpcUrls, native } = config
    return {
      chainId,
      name,
      family,
      nodes: rpcUrls.length,
      coin: { symbol: native.symbol, decimals: nativeToken.decimals },
      hardSeconds: finalityOf(config).hardSeconds,
      caps: capsOf(config),
      senders,
      retiring,
      float: floatOf(network, chain),
    }
  })
}

/** Limits of deliveries against inputs of a chain that are not final, and that are not claimed. */
export function capsOf({
  exposureCapUsd = defaultExposureCapUsd,
  unclaimedCapUsd = defaultUnclaimedCapUsd,
}: Pick<ChainConfig, 'exposureCapUsd' | 'unclaimedCapUsd'>): ServedChain['caps'] {
  return { exposedCents: BigInt(exposureCapUsd) * 100n, unclaimedCents: BigInt(unclaimedCapUsd) * 100n }
}

/** The gas float of a chain and its limits; undefined if none is configured. */
export function floatOf(
  { gasFloat }: NetworkConfig,
  { config, nativeToken: { decimals } }: Pick<Connected, 'config' | 'nativeToken'>,
): GasFloat | undefined {
  const set = gasFloat?.chains.find(({ chainId }) => chainId === config.chainId)
  const address = gasFloat?.[config.family]
  if (!set || !address) return undefined
  const parse = (coins: string) => parseUnits(coins, decimals)
  return {
    address: config.family === 'evm' ? getAddress(address) : address,
    limits: { low: parse(set.low), target: parse(set.target), maxPerDay: parse(set.maxPerDay) },
  }
}
