import type { QuoteRequest, TokenEntry } from '@geoswap/sdk'
import { parseAmount } from '../amounts.ts'
import { type Catalog, chainOf, tokenOf } from '../service/catalog.ts'
import type { Family } from '../wallets/wallet.ts'

/** The content of the form, as typed. */
export type Order = {
  originChain: number
  inputToken: string
  destinationChain: number
  outputToken: string
  amount: string
  /** Empty for the user's own wallet. */
  recipient: string
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
  }
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
  const { originChain, inputToken, destinationChain, outputToken, amount } = order
  return {
    originChain: destinationChain,
    inputToken: outputToken,
    amount,
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

/** The request for a quote, or a sentence that says what is missing. */
export function toRequest(order: Order, catalog: Catalog, owners: Owners): QuoteRequest | string {
  const { originChain, inputToken, destinationChain, outputToken } = order
  const origin = chainOf(catalog, originChain)
  const destination = chainOf(catalog, destinationChain)
  const token = tokenOf(catalog, originChain, inputToken)
  if (!origin || !destination || !token) return 'Choose the tokens to swap.'
  if (originChain === destinationChain && inputToken === outputToken) return 'Choose two different tokens.'
  const amount = order.amount.trim() === '' ? 0n : parseAmount(order.amount, token)
  if (amount === undefined) return `Write the amount in digits, with up to ${token.decimals} decimals.`
  if (amount === 0n) return 'Enter an amount.'
  const wallet = owners[origin.family]
  if (!wallet) return `Connect a wallet for ${origin.name}.`
  const recipient = order.recipient.trim() || owners[destination.family]?.address
  if (!recipient) return `Connect a wallet for ${destination.name}, or name a recipient there.`
  return {
    originChain,
    destinationChain,
    inputToken,
    outputToken,
    amount: amount.toString(),
    walletAddress: wallet.address,
    recipient,
  }
}
