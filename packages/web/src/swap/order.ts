import type { ChainEntry, QuoteRequest, TokenEntry } from '@geoswap/sdk'
import { type DecimalMark, readAmount } from '../amount-text.ts'
import type { FamilyName } from '../families/family.ts'
import { families } from '../families/registry.ts'
import { type Catalog, chainOf, tokenOf } from '../service/catalog.ts'

/** The choices of the form, in percent. Empty text lets the service choose. */
export const SLIPPAGES = ['', '0.1', '0.5', '1', '3'] as const

const MAX_BPS = 5_000
// More than this is rarely meant.
const HIGH_BPS = 500
// The service's own for equal assets: named by the page, so that the SDK holds the service to it.
const SAME_ASSET_BPS = 50

/** Basis points of a percentage as people write it, with up to two decimals. Undefined if invalid. */
export function readSlippage(text: string): number | undefined {
  const [, whole, fraction = ''] = /^(\d{1,2})(?:[.,](\d{0,2}))?\s*%?$/.exec(text.trim()) ?? []
  if (whole === undefined) return undefined
  const bps = Number(whole) * 100 + Number(fraction.padEnd(2, '0'))
  return bps >= 1 && bps <= MAX_BPS ? bps : undefined
}

/** The slippage of a request; undefined leaves it to the service. */
export function slippageOf(text: string, isSameAsset: boolean): number | undefined {
  if (text.trim() === '') return isSameAsset ? SAME_ASSET_BPS : undefined
  return readSlippage(text)
}

/** A problem or a warning about the typed slippage. */
export function slippageNote(text: string): string | undefined {
  if (text.trim() === '') return undefined
  const bps = readSlippage(text)
  if (bps === undefined) return 'Slippage is a percentage from 0.01 to 50.'
  if (bps > HIGH_BPS) return `You may receive up to ${bps / 100} % less than the price shows.`
  return undefined
}

/** The content of the form, as typed. */
export type Order = {
  originChain: number
  inputToken: string
  destinationChain: number
  outputToken: string
  amount: string
  /** Empty for the user's own wallet. */
  recipient: string
  /** In percent; empty lets the service choose. */
  slippage: string
}

type Owners = Readonly<Partial<Record<FamilyName, { address: string }>>>

/** The initial form: ten dollars on the first chain, to the last chain's coin. */
export function firstOrder(catalog: Catalog): Order {
  const { chains, tokens } = catalog
  const origin = chains[0]
  const destination = chains.at(-1)
  if (!origin || !destination) throw new Error('The service has no chain to swap on.')
  const paid = tokens.find((token) => token.chainId === origin.chainId && isDollar(token))
  return {
    originChain: origin.chainId,
    inputToken: (paid ?? firstToken(catalog, origin.chainId)).address,
    destinationChain: destination.chainId,
    outputToken: firstToken(catalog, destination.chainId).address,
    amount: '10',
    recipient: '',
    slippage: '',
  }
}

/** The token of `alpha:USDC`, `8453:USDC` or `8453:0x…`, with the name or number of the chain. */
function findToken(catalog: Catalog, text: string): TokenEntry | undefined {
  const [place = '', name = ''] = text.split(':')
  const isNamed = (known: string, wanted: string) => known.toLowerCase() === wanted.toLowerCase()
  const chain = catalog.chains.find((each) => String(each.chainId) === place || isNamed(each.name, place))
  if (!chain) return undefined
  const called = catalog.tokens.filter((each) => each.chainId === chain.chainId && isNamed(each.symbol, name))
  return called.length === 1 ? called[0] : tokenOf(catalog, chain.chainId, name)
}

/** The name of a token in an address: the shortest one by which it is found again. */
export function tokenName(catalog: Catalog, chainId: number, address: string): string {
  const token = tokenOf(catalog, chainId, address)
  const short = `${chainOf(catalog, chainId)?.name}:${token?.symbol}`
  return token && findToken(catalog, short) === token ? short : `${chainId}:${address}`
}

export type OrderNames = { from: string; to: string; amount: string }

/** The part of an order that its address names: without the recipient, so no link can change who is paid. */
export function namesOf(order: Order, catalog: Catalog): OrderNames {
  const { originChain, inputToken, destinationChain, outputToken, amount } = order
  return {
    from: tokenName(catalog, originChain, inputToken),
    to: tokenName(catalog, destinationChain, outputToken),
    amount,
  }
}

// The address may be a stranger's link: a name is shown, a sentence is not.
const NAME = /^[\w-]{1,32}:\w{1,44}$/

/** The tokens that an address names and this service does not swap. */
export const unknownIn = ({ from, to }: OrderNames, catalog: Catalog): string[] =>
  [from, to]
    .filter((text) => text !== '' && !findToken(catalog, text))
    .map((text) => (NAME.test(text) ? text : 'the token of this link'))

/** The order that an address names, perhaps in part; undefined if it names no token of this service. */
export function orderNamed({ from, to, amount }: OrderNames, catalog: Catalog): Order | undefined {
  const [input, output] = [findToken(catalog, from), findToken(catalog, to)]
  if (!input && !output) return undefined
  const first = { ...firstOrder(catalog), amount }
  const paying = input && { originChain: input.chainId, inputToken: input.address }
  const paid = output && { destinationChain: output.chainId, outputToken: output.address }
  const isSame = (a: TokenEntry | undefined, chainId: number, address: string) =>
    a?.chainId === chainId && a.address === address
  // The side that is not named is not the token of the other.
  const isTurned = output
    ? !input && isSame(output, first.originChain, first.inputToken)
    : isSame(input, first.destinationChain, first.outputToken)
  return { ...(isTurned ? turned(first, amount) : first), ...paying, ...paid }
}

/** Only for the initial form: the real value of a token comes from a quote. */
function isDollar({ symbol, native }: TokenEntry): boolean {
  return !native && symbol.startsWith('USD')
}

function firstToken({ tokens }: Catalog, chainId: number): TokenEntry {
  const found =
    tokens.find((token) => token.chainId === chainId && token.native) ??
    tokens.find((token) => token.chainId === chainId)
  if (!found) throw new Error(`The service has no token on chain ${chainId}.`)
  return found
}

/** The same token or asset on another chain; else that chain's coin. */
export function onChain(catalog: Catalog, token: TokenEntry | undefined, chainId: number): string {
  const same = catalog.tokens.find((each) => each.chainId === chainId && each.symbol === token?.symbol)
  return (same ?? firstToken(catalog, chainId)).address
}

/** The reverse direction, with the amount that was to be received. */
export function turned(order: Order, amount: string): Order {
  const { originChain, inputToken, destinationChain, outputToken, slippage } = order
  return {
    originChain: destinationChain,
    inputToken: outputToken,
    amount,
    slippage,
    recipient: '',
    destinationChain: originChain,
    outputToken: inputToken,
  }
}

/** A stored order may name tokens that are no longer supported. */
export function isServed(order: Order, catalog: Catalog): boolean {
  const { originChain, inputToken, destinationChain, outputToken } = order
  return Boolean(tokenOf(catalog, originChain, inputToken) && tokenOf(catalog, destinationChain, outputToken))
}

/** Says what is wrong with a typed recipient; undefined if it is empty or an address of this chain. */
export function recipientProblem(text: string, { name, family }: ChainEntry): string | undefined {
  const typed = text.trim()
  if (typed === '' || families[family].isAddress(typed)) return undefined
  const other = Object.values(families).find(({ isAddress }) => isAddress(typed))
  if (!other) return `The recipient is no address on ${name}.`
  return `The recipient is ${other.words.anAddress}: ${name} needs ${families[family].words.anAddress}.`
}

type Known = { catalog: Catalog; owners: Owners; mark: DecimalMark }

/** The request for a quote, or a sentence that says what is missing. */
export function toRequest(order: Order, { catalog, owners, mark }: Known): QuoteRequest | string {
  const { originChain, inputToken, destinationChain, outputToken } = order
  const origin = chainOf(catalog, originChain)
  const destination = chainOf(catalog, destinationChain)
  const token = tokenOf(catalog, originChain, inputToken)
  const output = tokenOf(catalog, destinationChain, outputToken)
  if (!origin || !destination || !token || !output) return 'Choose the tokens to swap.'
  const read = readAmount(order.amount, { decimals: token.decimals, mark })
  if (read.kind === 'ambiguous') return `Write ${read.readings.join(' or ')}: ${order.amount} can mean both.`
  if (read.kind === 'invalid') return `Write the amount in digits, with up to ${token.decimals} decimals.`
  if (read.kind === 'empty' || read.amount === 0n) return 'Enter an amount.'
  const slippageBps = slippageOf(order.slippage, token.asset === output.asset)
  if (order.slippage.trim() !== '' && slippageBps === undefined) return slippageNote(order.slippage) ?? ''
  const wallet = owners[origin.family]
  if (!wallet) return `Connect a wallet for ${origin.name}.`
  const recipient = order.recipient.trim() || owners[destination.family]?.address
  if (!recipient) return `Connect a wallet for ${destination.name}, or name a recipient there.`
  const misfit = recipientProblem(order.recipient, destination)
  if (misfit) return misfit
  const isSame = originChain === destinationChain && inputToken === outputToken
  if (isSame && recipient === wallet.address) return 'Choose two different tokens, or name another recipient.'
  return {
    originChain,
    destinationChain,
    inputToken,
    outputToken,
    amount: read.amount.toString(),
    walletAddress: wallet.address,
    recipient,
    slippageBps,
  }
}
