import type { Client, QuoteReply, SwapLimits, SwapRequest } from '@geoswap/sdk'
import { formatAmount, formatBps, parseAmount, parseRawAmount, type Unit } from './amounts.ts'
import { type Catalog, getAccount, getSide, isAddressOf, type Side, toCanonical } from './catalog.ts'
import { type Context, nodeOf, readCatalog } from './context.ts'
import { UserError } from './errors.ts'
import { getRpcUrl, getService } from './settings.ts'
import { type Order, type OrderSide, standingOf } from './store/journal.ts'
import { LOCAL_WALLET } from './store/wallet-files.ts'
import { type ChosenWallet, chooseWallet } from './wallets.ts'

/** The arguments of `swap` and `quote` as typed. */
export type OrderArguments = {
  from: string
  to: string
  amount?: string | undefined
  receive?: string | undefined
  recipient?: string | undefined
  slippage?: string | undefined
  minReceive?: string | undefined
  maxPay?: string | undefined
  maxEta?: string | undefined
  externalId?: string | undefined
  raw?: boolean | undefined
}

/** The resolved order: the request to the service, and the order that the journal keeps. */
export type ReadyOrder = {
  from: Side
  to: Side
  wallet: ChosenWallet
  request: SwapRequest & { recipient: string }
  limits: SwapLimits
  order: Order
  /** True if both tokens have the same symbol and the chains confirm it. */
  isSameAsset: boolean
}

type Payer = (side: Side) => Promise<ChosenWallet>

export async function resolveOrder(
  context: Context,
  client: Client,
  words: OrderArguments,
  payer: Payer,
): Promise<ReadyOrder> {
  const catalog: Catalog = await readCatalog(client, context.interrupts.signal)
  const from = getSide(catalog, words.from)
  const to = getSide(catalog, words.to)
  const wallet = await payer(from)
  const [recipient] = await Promise.all([
    chooseRecipient(context, { wallet, to, named: words.recipient }),
    assertToken(context, from),
    assertToken(context, to),
  ])
  const amount = await readAmount(context, words, { from, to, wallet })
  const request = {
    originChain: from.chain.chainId,
    destinationChain: to.chain.chainId,
    inputToken: from.token.address,
    outputToken: to.token.address,
    recipient,
    amount: amount.value.toString(),
    tradeType: amount.tradeType,
    slippageBps: words.slippage === undefined ? undefined : readSlippage(words.slippage),
    maxEtaSeconds: words.maxEta === undefined ? undefined : readMaxEta(words.maxEta),
    externalId: words.externalId === undefined ? undefined : readExternalId(words.externalId),
  }
  const order: Order = {
    service: getService(context.settings).url,
    wallet: { name: wallet.name, address: wallet.address },
    from: toOrderSide(from),
    to: toOrderSide(to),
    recipient,
    tradeType: amount.tradeType,
    amount: amount.isAll ? 'max' : request.amount,
  }
  if (amount.value === 0n && standingOf(context.journal.findLast(order)) === 'free')
    throw nothingToSwap(from, wallet)
  context.seen.order = order
  const isSameAsset = isOneSymbol(words, from, to) && isRead(context, to)
  return { from, to, wallet, request, limits: readLimits(words, from, to), order, isSameAsset }
}

/** Without a node, decimals are only the service's claim and cannot be used in calculations. */
function isRead({ settings }: Context, { chain }: Side): boolean {
  return settings.rpcUrls[chain.chainId] !== undefined
}

function isOneSymbol(words: OrderArguments, from: Side, to: Side): boolean {
  const [paid, bought] = [words.from, words.to].map((text) => text.split(':')[1]?.toLowerCase())
  const symbols = [from.token.symbol, to.token.symbol].map((symbol) => symbol.toLowerCase())
  return paid !== undefined && paid === bought && symbols.every((symbol) => symbol === paid)
}

/** Defaults to the wallet's own address if it fits the chain; a wallet's name stands for its address. */
async function chooseRecipient(
  context: Context,
  { wallet, to, named }: { wallet: ChosenWallet; to: Side; named: string | undefined },
): Promise<string> {
  const { family, name: chain } = to.chain
  if (named?.includes(':')) return getAccount(to.chain, named)
  if (named !== undefined && isAddressOf(family, named)) return toCanonical(family, named)
  if (named !== undefined) {
    const known = context.wallets.find(named)
    if (known?.family === family) return known.address
    const advice = known ? `Wallet ${named} is of the family ${known.family}.` : 'Check each letter.'
    throw new UserError('BAD_ADDRESS', `${named} is not an address on ${chain}.`, { advice })
  }
  if (wallet.family === family) return wallet.address
  if (wallet.name === LOCAL_WALLET)
    return (await chooseWallet(context, { family, chain, named: LOCAL_WALLET })).address
  const others = context.wallets.list().filter((each) => each.family === family)
  const names =
    others.length > 0 ? ` Wallets of yours there: ${others.map(({ name }) => name).join(', ')}.` : ''
  throw new UserError('NEEDS_RECIPIENT', `Wallet ${wallet.name} has no address on ${chain}.`, {
    advice: `Set the recipient: --to ADDRESS, or --to WALLET.${names}`,
  })
}

/** Compares symbol and decimals with the chain, since names and whole amounts depend on them. */
async function assertToken(context: Context, { chain, token }: Side): Promise<void> {
  if (context.settings.rpcUrls[chain.chainId] === undefined) return
  const node = nodeOf(context, chain)
  const [decimals, symbol] = await Promise.all([node.decimalsOf(token.address), node.symbolOf(token.address)])
  const advice = 'Do not use this service until the difference is explained.'
  if (decimals !== token.decimals) {
    const message = `${token.symbol} on ${chain.name} has ${decimals} decimals, the service says ${token.decimals}.`
    throw new UserError('WRONG_DECIMALS', message, { advice })
  }
  if (symbol === undefined || symbol === token.symbol) return
  const message = `${token.address} on ${chain.name} is ${symbol}, the service says ${token.symbol}.`
  throw new UserError('WRONG_TOKEN', message, { advice })
}

/** Refuses to pay without a node, because the decimals would be the service's claim alone. */
export function assertReadable({ settings }: Pick<Context, 'settings'>, { from }: ReadyOrder): void {
  getRpcUrl(settings, from.chain)
}

type ReadAmount = { value: bigint; tradeType: Order['tradeType']; isAll: boolean }

async function readAmount(
  context: Context,
  { amount, receive, raw }: OrderArguments,
  { from, to, wallet }: { from: Side; to: Side; wallet: ChosenWallet },
): Promise<ReadAmount> {
  if ((amount === undefined) === (receive === undefined))
    throw new UserError('USAGE', 'State the amount: either --amount to pay, or --receive to get.')
  if (receive !== undefined)
    return { value: readUnits(receive, to.token, raw), tradeType: 'exactOutput', isAll: false }
  if (amount !== 'max')
    return { value: readUnits(amount ?? '', from.token, raw), tradeType: 'exactInput', isAll: false }
  const value = await nodeOf(context, from.chain).balanceOf(wallet.address, from.token.address)
  return { value, tradeType: 'exactInput', isAll: true }
}

/** Not thrown while the same order is in flight: the input has probably left the wallet for it. */
function nothingToSwap({ chain, token }: Side, { address }: ChosenWallet): UserError {
  const message = `${address} holds no ${token.symbol} on ${chain.name}.`
  return new UserError('NOTHING_TO_SWAP', message, { advice: 'Send some to it, or choose another token.' })
}

function readLimits({ minReceive, maxPay, raw }: OrderArguments, from: Side, to: Side): SwapLimits {
  return {
    minOutput: minReceive === undefined ? undefined : readUnits(minReceive, to.token, raw),
    maxInput: maxPay === undefined ? undefined : readUnits(maxPay, from.token, raw),
  }
}

function readUnits(text: string, unit: Unit, raw = false): bigint {
  return raw ? parseRawAmount(text) : parseAmount(text, unit)
}

function readSlippage(text: string): number {
  const bps = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (bps >= 1 && bps <= 5_000) return bps
  throw new UserError('USAGE', '--slippage is in basis points, 1 to 5000: 50 is half a percent.')
}

function readMaxEta(text: string): number {
  const seconds = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (seconds >= 1 && seconds <= 86_400) return seconds
  throw new UserError('USAGE', '--max-eta is in seconds, 1 to 86400.')
}

export function readExternalId(text: string): string {
  if (/^[!-~]{1,64}$/.test(text)) return text
  throw new UserError('USAGE', '--external-id has 1 to 64 visible ASCII characters, without spaces.')
}

function toOrderSide({ chain, token }: Side): OrderSide {
  const { address, symbol, decimals } = token
  return { chainId: chain.chainId, chain: chain.name, token: address, symbol, decimals }
}

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

/** The name of a cost of a quote, in words. */
export function costName(
  kind: QuoteReply['fees'][number]['kind'],
  { feeBps }: Pick<QuoteReply, 'feeBps'>,
  { from, to }: Sides,
): string {
  if (kind === 'serviceFee') return `service fee, ${Number((feeBps / 100).toFixed(6))} %`
  if (kind === 'rebalancing') return 'for what the service holds there'
  if (kind === 'integratorFee') return 'fee of the application'
  if (kind === 'riskPremium') return 'premium for being paid before the input is final'
  if (kind === 'originNetwork') return `network costs on ${from.chain}`
  if (kind === 'deliveryNetwork') return `network costs on ${to.chain}`
  return kind === 'accountRent' ? `new token account on ${to.chain}` : 'spread and price impact'
}

export function impactOf(bps: number | undefined): string {
  return bps === undefined ? 'price impact not known' : `price impact ${formatBps(bps)}`
}

type Speeds = Pick<QuoteReply, 'speed' | 'speeds'>
const SPEEDS = ['final', 'fast'] as const
const isAmount = (text: string) => /^[0-9]{1,78}$/.test(text)

/** In words: the way of a quote, and the other one with its time, output and premium; empty without a choice. */
export function speedLines({ speed, speeds = [] }: Speeds, { from, to }: Sides, style: Style): string[] {
  const named = SPEEDS.find((each) => each === speed)
  if (!named) return []
  const line =
    named === 'fast' ? `paid before it is final on ${from.chain}` : `paid once final on ${from.chain}`
  const other = speeds.find((each) => each.speed !== named && isAmount(each.outputAmount))
  if (!other) return [line]
  const { riskPremium = '0', outputAmount, etaSeconds } = other
  const seconds = Math.round(Number(etaSeconds))
  const premium =
    isAmount(riskPremium) && riskPremium !== '0'
      ? `, with a premium of ${money(riskPremium, from, style)}`
      : ''
  return [
    line,
    `or ${named === 'fast' ? 'final' : 'fast'}: about ${seconds} s, ${money(outputAmount, to, style)}${premium}`,
  ]
}
