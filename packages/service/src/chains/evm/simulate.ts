import { geoVaultAbi } from '@geoswap/protocol'
import { type Address, BaseError, ContractFunctionRevertedError, type PublicClient } from 'viem'
import type { Op } from '../../model/swap.ts'
import type { Simulation } from '../chain.ts'
import { toDeliveryOrder } from './plans.ts'
import { readBalance } from './reads.ts'
import type { EvmChainSettings } from './settings.ts'

// Refusals of the vault that say nothing about the recipient or the liquidity.
const NOT_NOW = [
  'NotDeliverer',
  'AlreadyDelivered',
  'Late',
  'BelowMinimum',
  'IndexOutOfRange',
  'Reentrancy',
  'LowGas',
]

/** Runs the delivery on the newest state without sending it, and says why it would not go through. */
export async function simulateDelivery(
  client: PublicClient,
  settings: EvmChainSettings & { deliverer: Address },
  op: Op,
): Promise<Simulation> {
  const { ring, token, fill } = toDeliveryOrder(settings, op)
  const vault = { address: settings.vault, abi: geoVaultAbi } as const
  try {
    const args = [ring, token, fill] as const
    await client.simulateContract({ ...vault, functionName: 'deliver', args, account: settings.deliverer })
    return { kind: 'ok' }
  } catch (error) {
    const refusal = refusalOf(error)
    if (refusal === undefined) throw error
    if (NOT_NOW.includes(refusal)) return { kind: 'notNow' }
    if (refusal === 'CapReached') return { kind: 'noLiquidity' }
  }
  const held = await readBalance(client, { owner: settings.vault, token })
  return { kind: held < op.quotedOutput ? 'noLiquidity' : 'recipientRefuses' }
}

/**
 * The name of the error a contract gave, or an empty one; undefined when no contract has spoken and it is a
 * fault of the node or the way to it. Nodes differ in the code of a revert, but all of them say the word.
 */
export function refusalOf(error: unknown): string | undefined {
  if (!(error instanceof BaseError)) return undefined
  const revert = error.walk((cause) => cause instanceof ContractFunctionRevertedError)
  if (!(revert instanceof ContractFunctionRevertedError)) return undefined
  const name = revert.data?.errorName
  if (name) return name
  return /\brevert(ed)?\b/i.test(`${error.details} ${error.message}`) ? '' : undefined
}
