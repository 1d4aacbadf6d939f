import type { PublicClient } from 'viem'
import { medianOfNodes } from '../nodes/agree.ts'
import type { EvmChainSettings } from './settings.ts'

type Settings = Pick<EvmChainSettings, 'tipWei' | 'maxTipWei' | 'l1Gas'>

// Chains without a base fee ask for about this much.
const LEAST_BOUND = 100_000_000n

/** The median tip of the nodes, at most twice the base fee, so that no node can set an arbitrary one. */
export async function readTip(
  nodes: readonly PublicClient[],
  settings: Settings,
  baseFee: bigint,
): Promise<bigint> {
  if (settings.tipWei !== undefined) return settings.tipWei
  // Sequencers of Arbitrum ignore tips.
  if (settings.l1Gas === 'arbitrum') return 0n
  const suggested = await medianOfNodes(nodes.map((node) => node.estimateMaxPriorityFeePerGas()))
  return boundTip(suggested, baseFee, settings.maxTipWei)
}

export function boundTip(suggested: bigint, baseFee: bigint, maxTipWei?: bigint): bigint {
  const bound = maxTipWei ?? (2n * baseFee > LEAST_BOUND ? 2n * baseFee : LEAST_BOUND)
  return suggested < bound ? suggested : bound
}
