import type { QuoteRequest, TokenEntry } from '@geoswap/sdk'
import { type DecimalMark, readAmount } from '../amount-text.ts'
import { type Catalog, chainOf, tokenOf } from '../service/catalog.ts'
import type { Family } from '../wallets/wallet.ts'
import { slippageNote, slippageOf } from './slippage.ts'

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

type Owners = Readonly<Partial<Record<Family, { address: string }>>>

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

/** The initial form of a link that names the token to pay with; undefined if the service does not take it. */
export function orderPaying(catalog: Catalog, chainId: number, address: string): Order | undefined {
  const input = tokenOf(catalog, chainId, address)
  if (!input) return undefined
  const first = firstOrder(catalog)
  const isOutput = first.destinationChain === chainId && first.outputToken === input.address
  const paying = { originChain: chainId, inputToken: input.address }
  return isOutput ? { ...turned(first), amount: '' } : { ...first, ...paying, amount: '' }
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

/** The reverse direction, with the same amount. */
export function turned(order: Order): Order {
  const { originChain, inputToken, destinationChain, outputToken, amount, slippage } = order
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
    ...(slippageBps !== undefined && { slippageBps }),
  }
}
