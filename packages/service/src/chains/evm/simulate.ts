import { geoVaultAbi } from '@geoswap/protocol'
import { type Address, BaseError, ContractFunctionRevertedError, type Hex, type PublicClient } from 'viem'
import type { Op } from '../../model/swap.ts'
import type { Simulation } from '../chain.ts'
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
 * Calls a request as it will be sent: by its key, with its gas limit and its fees. Code of strangers that tells a
 * simulation by its sender or its gas price answers as in a block.
 */
export async function simulate(
  client: PublicClient,
  request: EvmRequest,
  { sender, terms }: { sender: string; terms: Fees },
): Promise<boolean> {
  try {
    await client.call({
      account: sender as Address,
      to: request.to as Address,
      data: request.data as Hex,
      gas: gasLimitOf(request, terms),
      maxFeePerGas: BigInt(terms.maxFeePerGas),
      maxPriorityFeePerGas: BigInt(terms.maxPriorityFeePerGas),
    })
    return true
  } catch (error) {
    if (refusalOf(error) === undefined) throw error
    return false
  }
}

/**
 * The name of the contract's error, or an empty one; undefined if no contract answered and the node or the connection
 * failed. Nodes differ in the code of a revert, but all mention it in their text. The text of viem does not count: it
 * calls every internal error of a node a revert.
 */
export function refusalOf(error: unknown): string | undefined {
  if (!(error instanceof BaseError)) return undefined
  const revert = error.walk((cause) => cause instanceof ContractFunctionRevertedError)
  const name = revert instanceof ContractFunctionRevertedError ? revert.data?.errorName : undefined
  return name ?? (/\brevert(ed)?\b/i.test(error.details) ? '' : undefined)
}
