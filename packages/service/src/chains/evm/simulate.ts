import { geoVaultAbi } from '@geoswap/protocol'
import type { Address, PublicClient } from 'viem'
import type { Op } from '../../model/swap.ts'
import type { Simulation } from '../chain.ts'
import { toDeliveryOrder } from './plans.ts'
import { readBalance } from './reads.ts'
import { refusalOf } from './refused.ts'
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
