import { getAddress, parseUnits } from 'viem'
import type { NetworkConfig } from '../config.ts'
import type { FloatLimits } from '../model/gas-float.ts'
import type { ConnectedChain } from './chains.ts'

/** The gas float of a chain and its limits; undefined if none is configured. */
export function floatOf(
  { gasFloat }: NetworkConfig,
  { config, nativeToken: { decimals } }: ConnectedChain,
): { address: string; limits: FloatLimits } | undefined {
  const set = gasFloat?.chains.find(({ chainId }) => chainId === config.chainId)
  const address = gasFloat?.[config.family]
  if (!set || !address) return undefined
  const parse = (coins: string) => parseUnits(coins, decimals)
  return {
    address: config.family === 'evm' ? getAddress(address) : address,
    limits: { low: parse(set.low), target: parse(set.target), maxPerDay: parse(set.maxPerDay) },
  }
}
