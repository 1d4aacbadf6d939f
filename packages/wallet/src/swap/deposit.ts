import type { Client, Deposit } from '@geoswap/sdk'
import type { Context } from '../context.ts'
import type { ReadyOrder } from '../order.ts'
import type { Attempt } from '../store/journal.ts'
import { keepSubmitted } from './claim.ts'

// Between pegged tokens, a larger loss is a mistake.
const MAX_IMPACT_BPS = 500

/**
 * Opens a swap that somebody pays by a plain transfer, and keeps it: `geoswap recover` and `refund` need no more than
 * its operation and a node.
 */
export async function openDeposit(
  context: Context,
  client: Client,
  { request, wallet, limits, order }: ReadyOrder,
): Promise<{ deposit: Deposit; attempt: Attempt }> {
  const asked = { ...request, walletAddress: wallet.address }
  const { signal } = context.interrupts
  const deposit = await client.deposit(asked, { ...limits, maxPriceImpactBps: MAX_IMPACT_BPS, signal })
  const { operation, swapId } = deposit
  const rpcUrl = context.settings.rpcUrls[order.from.chainId]
  return { deposit, attempt: keepSubmitted(context, order, { operation, swapId, rpcUrl }) }
}
