import { geoVaultAbi } from '@geoswap/protocol'
import type { Address, Hex, PublicClient } from 'viem'
import type { Op } from '../../model/swap.ts'
import type { Block, Simulation } from '../chain.ts'
import { attempt } from './attempt.ts'
import { type Fees, gasLimitOf } from './fees.ts'
import { type EvmRequest, toDeliveryOrder } from './plans.ts'
import { readBalance } from './reads.ts'
import type { EvmChainSettings } from './settings.ts'

// Refusals of the vault that do not depend on the recipient or the liquidity.
const NOT_NOW = [
  'NotDeliverer',
  'AlreadyDelivered',
  'Late',
  'BelowMinimum',
  'IndexOutOfRange',
  'Reentrancy',
  'LowGas',
]

/** Simulates the delivery on the newest state, and returns the reason if it would fail. */
export async function simulateDelivery(
  client: PublicClient,
  settings: EvmChainSettings & { deliverer: Address },
  op: Op,
): Promise<Simulation> {
  const { ring, token, fill } = toDeliveryOrder(settings, op)
  const vault = { address: settings.vault, abi: geoVaultAbi } as const
  const args = [ring, token, fill] as const
  const call = { ...vault, functionName: 'deliver', args, account: settings.deliverer } as const
  const tried = await attempt(client, () => client.simulateContract(call))
  if (tried.kind === 'ok') return { kind: 'ok' }
  if (tried.kind === 'odd' || NOT_NOW.includes(tried.name)) return { kind: 'notNow' }
  if (tried.name === 'CapReached') return { kind: 'noLiquidity' }
  const held = await readBalance(client, { owner: settings.vault, token })
  return { kind: held < op.quotedOutput ? 'noLiquidity' : 'recipientRefuses' }
}

/**
 * Whether a request would succeed as it will be sent: by its key, with its gas limit and its fees. Code of strangers
 * that tells a simulation by its sender or its gas price answers as in a block.
 */
export async function wouldSucceed(
  client: PublicClient,
  request: EvmRequest,
  { sender, terms, at }: { sender: string; terms: Fees; at?: Pick<Block, 'number'> },
): Promise<boolean> {
  const call = {
    account: sender as Address,
    to: request.to as Address,
    data: request.data as Hex,
    value: BigInt(request.value ?? 0n),
    gas: gasLimitOf(request, terms),
    maxFeePerGas: BigInt(terms.maxFeePerGas),
    maxPriorityFeePerGas: BigInt(terms.maxPriorityFeePerGas),
    ...(at && { blockNumber: at.number }),
  }
  const { kind } = await attempt(client, () => client.call(call), at?.number)
  return kind === 'ok'
}
