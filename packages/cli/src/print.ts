import type { QuoteReply, StatusReply } from '@geoswap/sdk'
import { formatAmount } from '@geoswap/wallet/amounts'
import { costName, impactOf, money, type Style, speedLines } from '@geoswap/wallet/order'
import type { Order } from '@geoswap/wallet/store/journal'
import { columns } from './command.ts'

export function quoteLines(quote: QuoteReply, order: Order, style: Style): string[] {
  const { from, to } = order
  const { priceImpactBps, inputUsd, outputUsd, feeDiscount, fees, warnings = [], originMethods = [] } = quote
  const fee = (amount: string) => (style.raw ? amount : formatAmount(BigInt(amount), from.decimals))
  return columns([
    ['pay', money(quote.input, from, style), from.token],
    ['get', money(quote.output, to, style), to.token],
    ['at least', money(quote.minOutput, to, style), ''],
    ['from', order.wallet.address, order.wallet.name],
    ['to', order.recipient, ''],
    inputUsd && outputUsd
      ? ['value', `${inputUsd} USD for ${outputUsd} USD`, impactOf(priceImpactBps)]
      : undefined,
    ...fees.map(({ kind, amount }) => [
      'cost',
      `${fee(amount)} ${from.symbol}`,
      costName(kind, quote, order),
    ]),
    feeDiscount && ['discount', `${feeDiscount.discountPercent} %`, feeDiscount.tier],
    ['takes', `about ${quote.etaSeconds} s`, ''],
    ...speedLines(quote, order, style).map((line) => ['speed', line, '']),
    quote.speed === 'final' && quote.speeds && ['', 'choose fast by --max-eta SECONDS', ''],
    originMethods.length > 1 && ['ways', originMethods.map(({ method }) => method).join(', '), ''],
    ...warnings.map(({ code, message }) => ['note', message, code]),
  ])
}

/** A swap's amounts have no unit without its order, which only the journal has. */
export function swapLines(swap: StatusReply, order: Order | undefined, style: Style): string[] {
  const { input, delivered, quotedOutput, minOutput, riskPremium } = swap.amounts
  const paid = order ? money(input, order.from, style) : `${input} units on chain ${swap.originChain}`
  const out = delivered ?? riskPremium?.output ?? quotedOutput
  const got = order ? money(out, order.to, style) : `${out} units on chain ${swap.destinationChain}`
  const least = order ? money(minOutput, order.to, style) : `${minOutput} units`
  return columns([
    ['swap', swap.swapId],
    ['named', swap.externalId],
    ['status', swap.status === 'pending' ? `pending (${swap.substatus})` : swap.status],
    swap.waiting && ['waiting', `for finality, about until ${swap.waiting.until} (${swap.waiting.reason})`],
    ['pay', paid],
    [delivered ? 'got' : 'get', delivered ? got : `${got}, at least ${least}`],
    riskPremium?.returned && ['premium', 'goes back into the output: it is paid once final'],
    order && ['wallet', `${order.wallet.address} (${order.wallet.name})`],
    ['to', order?.recipient],
    ['lock', swap.originTxHash],
    ['delivery', swap.deliveryTxHash],
    ['refund', swap.refund?.txHash],
    ...(swap.deposit ? depositLines(swap.deposit, order, style) : []),
    ...endLines(swap),
  ])
}

function depositLines(
  { address, received, txHash, returned = [], next }: NonNullable<StatusReply['deposit']>,
  order: Order | undefined,
  style: Style,
) {
  const amountOf = (amount: string, token = order?.from.token) =>
    order && token === order.from.token
      ? money(amount, order.from, style)
      : `${amount} units${token ? ` of ${token}` : ''}`
  return [
    ['deposit', `${address}${received ? `, received ${amountOf(received)}` : ''}`],
    ['paid by', txHash],
    ...returned.map(({ token, amount, txHash: by }) => ['returned', `${amountOf(amount, token)} in ${by}`]),
    ['next', next],
  ]
}

function endLines({ failure, refund, createdAt, updatedAt, status }: StatusReply) {
  const seconds = (Date.parse(updatedAt) - Date.parse(createdAt)) / 1_000
  return [
    ['took', status === 'pending' ? undefined : `${seconds.toFixed(1)} s`],
    failure && ['why', `${failure.code}: ${failure.message}`],
    ['why', refund?.reason],
    refund?.credited && ['note', 'the token refused it: the wallet can withdraw it from the escrow'],
  ]
}
