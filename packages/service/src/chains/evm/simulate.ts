import { geoVaultAbi } from '@geoswap/protocol'
import { type Address, BaseError, type Hex, type PublicClient } from 'viem'
import type { Op } from '../../model/swap.ts'
import type { Simulation } from '../chain.ts'
import { planDelivery } from './plans.ts'
import { readBalance } from './reads.ts'
import type { EvmChainSettings } from './settings.ts'

/** Runs the delivery on the newest state without sending it, and says why it would not go through. */
export async function simulateDelivery(
  client: PublicClient,
  settings: EvmChainSettings & { deliverer: Address },
  op: Op,
): Promise<Simulation> {
  const { to, data, gas } = planDelivery(settings, [op])
  try {
    const call = { to: to as Address, data: data as Hex, gas: BigInt(gas) }
    await client.call({ account: settings.deliverer, ...call })
    return { kind: 'ok' }
  } catch (error) {
    if (!isRevert(error)) throw error
  }
  const token = op.outputToken as Address
  const [held, [limit, spent]] = await Promise.all([
    readBalance(client, { owner: settings.vault, token }),
    client.readContract({ address: settings.vault, abi: geoVaultAbi, functionName: 'caps', args: [token] }),
  ])
  const isShort = held < op.quotedOutput || limit - spent < op.quotedOutput
  return { kind: isShort ? 'noLiquidity' : 'recipientRefuses' }
}

/**
 * A node that answers with a revert has spoken; anything else is a fault of the node or the way to it. Nodes
 * differ in the code they give it (3 or -32603), but all of them say the word.
 */
function isRevert(error: unknown): boolean {
  return error instanceof BaseError && /\brevert(ed)?\b/i.test(error.details)
}
