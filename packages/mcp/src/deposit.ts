import { assertReadable } from '@geoswap/wallet/order'
import { keepSubmitted } from '@geoswap/wallet/swap/claim'
import { factsOf } from './execute.ts'
import { assertRecipient, assertWithinCaps } from './judge.ts'
import { type McpContext, type Opened, readOrder } from './mcp-context.ts'
import type { OrderInput } from './schemas.ts'
import { toMoney, toQuoteView } from './views.ts'

// Between pegged tokens, a larger loss is a mistake.
const MAX_IMPACT_BPS = 500

/** Opens a swap that somebody pays by a plain transfer. Nothing leaves a wallet of the user by it. */
export async function openDeposit(mcp: McpContext, opened: Opened, input: OrderInput) {
  const { context, client } = opened
  const ready = await readOrder(mcp, opened, input)
  const { order, request, wallet, limits } = ready
  assertRecipient(order.recipient, mcp.rules)
  assertReadable(context, ready)
  const asked = { ...request, walletAddress: wallet.address }
  const { signal } = context.interrupts
  const quote = await client.quote(asked, { signal })
  assertWithinCaps({ ...factsOf(quote, ready), spentCents: mcp.spending.spentCents() }, mcp.rules)
  const deposit = await client.deposit(asked, { ...limits, maxPriceImpactBps: MAX_IMPACT_BPS, signal })
  const { operation, swapId } = deposit
  // `geoswap recover` needs no more than the operation and a node.
  keepSubmitted(context, order, { operation, swapId, rpcUrl: context.settings.rpcUrls[order.from.chainId] })
  mcp.log(`${swapId} waits for a deposit at ${deposit.depositAddress}`)
  return {
    swapId,
    depositAddress: deposit.depositAddress,
    send: toMoney(deposit.amount, order.from),
    until: deposit.until,
    quote: toQuoteView(deposit.quote, order),
  }
}
