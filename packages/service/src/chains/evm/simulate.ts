import { geoVaultAbi } from '@geoswap/protocol'
import { type Address, BaseError, ContractFunctionRevertedError, type Hex, type PublicClient } from 'viem'
import type { Op } from '../../model/swap.ts'
import type { Block, Simulation } from '../chain.ts'
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

// How nodes call the other ends of a call that a contract failed.
const FAILED = /out of gas|invalid (opcode|jump)|stack (under|over)flow/i

/**
 * Whether a transaction would succeed from this sender at the price that it pays: code can tell a simulation without a
 * price from the real call.
 */
export async function wouldSucceed(
  client: PublicClient,
  request: EvmRequest,
  { sender, terms, at }: { sender: string; terms: Fees; at: Pick<Block, 'number'> },
): Promise<boolean> {
  try {
    await client.call({
      account: sender as Address,
      to: request.to as Address,
      data: request.data as Hex,
      value: BigInt(request.value ?? 0n),
      gas: gasLimitOf(request, terms),
      maxFeePerGas: BigInt(terms.maxFeePerGas),
      maxPriorityFeePerGas: BigInt(terms.maxPriorityFeePerGas),
      blockNumber: at.number,
    })
    return true
  } catch (error) {
    const isFailed = error instanceof BaseError && FAILED.test(error.details)
    if (isFailed || refusalOf(error) !== undefined) return false
    throw error
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
