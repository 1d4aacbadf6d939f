import type { Deposit } from '@geoswap/sdk'
import type { Context } from '@geoswap/wallet/context'
import { assertReadable } from '@geoswap/wallet/order'
import type { Order } from '@geoswap/wallet/store/journal'
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
  keep(context, order, deposit)
  mcp.log(`${deposit.swapId} waits for a deposit at ${deposit.depositAddress}`)
  return {
    swapId: deposit.swapId,
    depositAddress: deposit.depositAddress,
    send: toMoney(deposit.amount, order.from),
    until: deposit.until,
    quote: toQuoteView(deposit.quote, order),
  }
}

/** The journal keeps the operation: `geoswap recover` needs no more than that and a node. */
function keep({ journal, settings }: Context, order: Order, { operation, swapId }: Deposit): void {
  const rpcUrl = settings.rpcUrls[order.from.chainId]
  const attempt = journal.begin(order, journal.findLast(order), rpcUrl)
  if (attempt) journal.record(attempt, { stage: 'submitted', swapId, operation })
}
