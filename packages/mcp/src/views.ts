import { GeoswapError, type QuoteReply, type StatusReply, type SwapRecord } from '@geoswap/sdk'
import { formatAmount, readable } from '@geoswap/wallet/amounts'
import type { Catalog } from '@geoswap/wallet/catalog'
import { speedLines } from '@geoswap/wallet/order'
import { quoteService } from '@geoswap/wallet/plain'
import type { Order } from '@geoswap/wallet/store/journal'
import type { Money, QuoteView, SwapView } from './schemas.ts'

/** A token on a chain, with the fields that are known. */
type KnownSide = {
  chainId: number
  chain: string
  token?: string | undefined
  symbol?: string | undefined
  decimals?: number | undefined
}
type Sides = { from: KnownSide; to: KnownSide }

const AMOUNT = /^\d{1,78}$/

export function toMoney(units: string, { chainId, chain, token, symbol, decimals }: KnownSide): Money {
  if (!AMOUNT.test(units)) {
    const message = 'The service named an amount that is no whole number.'
    const recovery = { action: 'RETRY_LATER' } as const
    throw new GeoswapError({ code: 'UNEXPECTED_REPLY', status: 200, message, retryable: false, recovery })
  }
  return {
    amount: decimals === undefined ? undefined : formatAmount(BigInt(units), decimals),
    units,
    chain,
    chainId,
    symbol,
    token,
  }
}

/** Rounded for reading: a bound is rounded to the loose side, and what has to be sent is told exactly. */
export function say(
  { amount, units, symbol, token, chain }: Money,
  rounding: 'down' | 'up' | 'exact' = 'down',
): string {
  if (amount === undefined) return `${units} units of ${token ?? 'a token'} on ${chain}`
  return `${rounding === 'exact' ? amount : readable(amount, rounding)} ${symbol} on ${chain}`
}

export function findSide({ chains, tokens }: Catalog, chainId: number, address?: string): KnownSide {
  const chain = chains.find((each) => each.chainId === chainId)?.name ?? `${chainId}`
  const form = (text: string | undefined) => (text?.startsWith('0x') ? text.toLowerCase() : text)
  const found = tokens.find((each) => each.chainId === chainId && form(each.address) === form(address))
  return { chainId, chain, token: address, symbol: found?.symbol, decimals: found?.decimals }
}

export function toQuoteView(quote: QuoteReply, order: Order): QuoteView {
  const { from, to, wallet, recipient } = order
  const speeds = speedLines(quote, order, { raw: false })
  return {
    pay: toMoney(quote.input, from),
    receive: toMoney(quote.output, to),
    minReceive: toMoney(quote.minOutput, to),
    wallet: wallet.address,
    recipient,
    payUsd: quote.inputUsd,
    receiveUsd: quote.outputUsd,
    priceImpactBps: quote.priceImpactBps,
    fees: quote.fees.map(({ kind, amount }) => ({ kind, pay: toMoney(amount, from) })),
    etaSeconds: quote.etaSeconds,
    speeds: speeds.length > 0 ? speeds : undefined,
    warnings: (quote.warnings ?? []).map(({ code, message }) => `${code}, ${quoteService(message)}`),
  }
}

type Parties = { wallet?: string | undefined; recipient?: string | undefined }

export function toSwapView(swap: StatusReply, sides: Sides, { wallet, recipient }: Parties = {}): SwapView {
  const { input, quotedOutput, minOutput, delivered, riskPremium } = swap.amounts
  const { failure, refund, deposit } = swap
  const reason = failure ? `${failure.code}, ${quoteService(failure.message)}` : refund?.reason
  return {
    swapId: swap.swapId,
    status: swap.status,
    substatus: swap.substatus,
    externalId: swap.externalId,
    pay: toMoney(input, sides.from),
    receive: toMoney(delivered ?? riskPremium?.output ?? quotedOutput, sides.to),
    minReceive: toMoney(minOutput, sides.to),
    wallet,
    recipient,
    lockTx: swap.originTxHash,
    deliveryTx: swap.deliveryTxHash,
    refundTx: refund?.txHash,
    depositAddress: deposit?.address,
    received: deposit?.received === undefined ? undefined : toMoney(deposit.received, sides.from),
    next: deposit?.next === undefined ? undefined : quoteService(deposit.next),
    returnTxs: deposit?.returned?.map(({ txHash }) => txHash),
    reason,
    createdAt: swap.createdAt,
    updatedAt: swap.updatedAt,
  }
}

export function toOrderView(swap: StatusReply, { from, to, wallet, recipient }: Order): SwapView {
  return toSwapView(swap, { from, to }, { wallet: wallet.address, recipient })
}

export function toRecordView(record: SwapRecord, catalog: Catalog): SwapView {
  const { walletAddress: wallet, recipient, originChain, destinationChain, inputToken, outputToken } = record
  const from = findSide(catalog, originChain, inputToken)
  const to = findSide(catalog, destinationChain, outputToken)
  return toSwapView(record, { from, to }, { wallet, recipient })
}

export function swapText({ swapId, status, substatus, pay, receive, reason, next }: SwapView): string {
  const how = status === 'pending' ? `pending (${substatus})` : status
  return `${swapId} ${how}: ${say(pay)} for ${say(receive)}${reason ? `. ${reason}` : ''}${next ? `. ${next}` : ''}`
}

export function quoteText({ pay, receive, minReceive, payUsd, etaSeconds, speeds }: QuoteView): string {
  const worth = payUsd === undefined ? 'value not known' : `${payUsd} USD`
  const terms = `${say(pay)} (${worth}) for ${say(receive)}, at least ${say(minReceive)}`
  return [`${terms}, in about ${etaSeconds} s`, ...(speeds ?? [])].join('; ')
}
