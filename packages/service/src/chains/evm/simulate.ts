import { geoVaultAbi } from '@geoswap/protocol'
import type { Address, Hex, PublicClient } from 'viem'
import type { Op } from '../../swap/swap.ts'
import type { Block, Simulation } from '../chain.ts'
import { attempt } from './attempt.ts'
import { type Fees, gasLimitOf } from './fees.ts'
import { type EvmRequest, planDelivery, toDeliveryOrder } from './plans.ts'
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

// Several times what a delivery takes; a token with all that a node allows could keep it busy.
const UNPRICED_GAS = 3_000_000n
const IDENTITY: Address = '0x0000000000000000000000000000000000000004'

/**
 * Simulates the delivery on the newest state, and returns the reason if it would fail. With `terms`, as its key would
 * send it: code of the recipient that accepts only without a gas price is seen to refuse.
 */
export async function simulateDelivery(
  client: PublicClient,
  settings: EvmChainSettings & { deliverer: Address },
  op: Op,
  terms?: Fees,
): Promise<Simulation> {
  const { ring, token, fill } = toDeliveryOrder(settings, op)
  const vault = { address: settings.vault, abi: geoVaultAbi } as const
  const args = [ring, token, fill] as const
  const gas = terms ? asPriced(planDelivery(settings, [op]), terms) : { gas: UNPRICED_GAS }
  const by = { account: settings.deliverer, ...gas }
  const tried = await attempt(client, () =>
    client.simulateContract({ ...vault, functionName: 'deliver', args, ...by }),
  )
  if (tried.kind === 'ok') return { kind: 'ok' }
  if (tried.kind === 'odd' || NOT_NOW.includes(tried.name)) return { kind: 'notNow' }
  if (tried.name === 'CapReached') return { kind: 'noLiquidity' }
  // Without the name of an error, the node itself may have refused the call.
  if (tried.name === '' && !(await canSend(client, by))) return { kind: 'notNow' }
  const held = await readBalance(client, { owner: settings.vault, token })
  return { kind: held < op.quotedOutput ? 'noLiquidity' : 'recipientRefuses' }
}

/** Nodes refuse a call whose sender lacks the coins for its gas, or whose fee is below the block's. */
async function canSend(client: PublicClient, by: { account: Address }): Promise<boolean> {
  const { kind } = await attempt(client, () => client.call({ to: IDENTITY, data: '0x01', ...by }))
  return kind === 'ok'
}

const asPriced = (request: EvmRequest, terms: Fees) => ({
  gas: gasLimitOf(request, terms),
  maxFeePerGas: BigInt(terms.maxFeePerGas),
  maxPriorityFeePerGas: BigInt(terms.maxPriorityFeePerGas),
})

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
    ...asPriced(request, terms),
    blockNumber: at?.number,
  }
  const { kind } = await attempt(client, () => client.call(call), at?.number)
  return kind === 'ok'
}
