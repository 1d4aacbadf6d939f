import type { QuoteReply } from '@geoswap/sdk'
import { formatAmount, formatBps } from './amounts.ts'
import type { Order, OrderSide } from './store/journal.ts'

/** How amounts are printed: in whole tokens, or raw in the smallest unit. */
export type Style = { raw: boolean }

type Sides = Pick<Order, 'from' | 'to'>

export function money(amount: string, { symbol, decimals, chain }: OrderSide, { raw }: Style): string {
  return `${raw ? amount : formatAmount(BigInt(amount), decimals)} ${symbol} on ${chain}`
}

/** The addresses behind the names, printed before anything is signed. */
export function orderLines({ from, to, wallet, recipient }: Order): string[] {
  return [
    `pays ${from.symbol} ${from.token} on ${from.chain} (${from.chainId}), wallet ${wallet.name} ${wallet.address}`,
    `gets ${to.symbol} ${to.token} on ${to.chain} (${to.chainId}), recipient ${recipient}`,
  ]
}

/** Includes the guaranteed minimum, since that is what is signed. */
export function quoteLine(quote: QuoteReply, { from, to }: Sides, style: Style): string {
  const least = money(quote.minOutput, to, style)
  return `${money(quote.input, from, style)} for ${money(quote.output, to, style)}, at least ${least}`
}

export function impactOf(bps: number | undefined): string {
  return bps === undefined ? 'price impact not known' : `price impact ${formatBps(bps)}`
}
