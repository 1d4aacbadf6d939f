import type { QuoteReply, StatusReply } from '@geoswap/sdk'
import { formatAmount, formatBps } from './amounts.ts'
import { columns } from './command.ts'
import type { Order, OrderSide } from './store/journal.ts'

/** How amounts are printed: in whole tokens, or raw in the smallest unit. */
export type Style = { raw: boolean }

type Sides = Pick<Order, 'from' | 'to'>

function money(amount: string, { symbol, decimals, chain }: OrderSide, { raw }: Style): string {
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

export function quoteLines(quote: QuoteReply, order: Order, style: Style): string[] {
  const { from, to } = order
  const { priceImpactBps, inputUsd, outputUsd, feeDiscount, fees, warnings = [] } = quote
  const fee = (amount: string) => (style.raw ? amount : formatAmount(BigInt(amount), from.decimals))
  return columns([
    ['pay', money(quote.input, from, style), from.token],
    ['get', money(quote.output, to, style), to.token],
    ['at least', money(quote.minOutput, to, style), ''],
    ['from', order.wallet.address, order.wallet.name],
    ['to', order.recipient, ''],
    ...(inputUsd && outputUsd
      ? [['value', `${inputUsd} USD for ${outputUsd} USD`, impactOf(priceImpactBps)]]
      : []),
    ...fees.map(({ kind, amount }) => ['cost', `${fee(amount)} ${from.symbol}`, kind]),
    ...(feeDiscount ? [['discount', `${feeDiscount.discountPercent} %`, feeDiscount.tier]] : []),
    ['takes', `about ${quote.etaSeconds} s`, ''],
    ...warnings.map(({ code, message }) => ['note', message, code]),
  ])
}

export function impactOf(bps: number | undefined): string {
  return bps === undefined ? 'price impact not known' : `price impact ${formatBps(bps)}`
}

/** A swap's amounts have no unit without its order, which only the journal has. */
export function swapLines(swap: StatusReply, order: Order | undefined, style: Style): string[] {
  const { input, delivered, quotedOutput, minOutput } = swap.amounts
  const paid = order ? money(input, order.from, style) : `${input} units on chain ${swap.originChain}`
  const out = delivered ?? quotedOutput
  const got = order ? money(out, order.to, style) : `${out} units on chain ${swap.destinationChain}`
  const least = order ? money(minOutput, order.to, style) : `${minOutput} units`
  return columns([
    ['swap', swap.swapId],
    ['status', swap.status === 'pending' ? `pending (${swap.substatus})` : swap.status],
    ['pay', paid],
    [delivered ? 'got' : 'get', delivered ? got : `${got}, at least ${least}`],
    ...(order ? [['wallet', `${order.wallet.address} (${order.wallet.name})`]] : []),
    ...(order ? [['to', order.recipient]] : []),
    ...(swap.originTxHash ? [['lock', swap.originTxHash]] : []),
    ...(swap.deliveryTxHash ? [['delivery', swap.deliveryTxHash]] : []),
    ...(swap.refund?.txHash ? [['refund', swap.refund.txHash]] : []),
    ...endLines(swap),
  ])
}

function endLines({ failure, refund, createdAt, updatedAt, status }: StatusReply): string[][] {
  const seconds = (Date.parse(updatedAt) - Date.parse(createdAt)) / 1_000
  return [
    ...(status === 'pending' ? [] : [['took', `${seconds.toFixed(1)} s`]]),
    ...(failure ? [['why', `${failure.code}: ${failure.message}`]] : []),
    ...(refund ? [['why', refund.reason]] : []),
    ...(refund?.credited
      ? [['note', 'the token refused it: the wallet can withdraw it from the escrow']]
      : []),
  ]
}
