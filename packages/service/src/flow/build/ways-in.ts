import { authorizationOf, depositAddressOf, permitOf, toTokenTypedData } from '@geoswap/protocol'
import type { BuildGeoOpReply, OriginMethod } from '@geoswap/wire'
import { ServiceError } from '../../errors.ts'
import { type Catalog, type CatalogChain, findToken, type Token } from '../../model/catalog.ts'
import { canPayBy, methodsFor, type WalletCode } from '../../model/origin-methods.ts'
import { type Quote, quoteBy } from '../../model/quote.ts'
import type { StoredOp } from '../../store/ops.ts'

type Hex = `0x${string}`

/** The ways of a quote that a wallet with this code has. */
export function methodsOfQuote(catalog: Catalog, quote: Quote, code: WalletCode): OriginMethod[] {
  const { origin, input, output } = routeOf(catalog, quote)
  const methods = methodsFor(catalog, { origin, input, output })
  return methods.filter((method) => canPayBy(method, code) && quoteBy(quote, method) !== undefined)
}

function routeOf({ chains }: Catalog, quote: Quote) {
  const [origin, destination] = [chains.get(quote.originChain), chains.get(quote.destinationChain)]
  const input = origin && findToken(origin, quote.inputToken)
  const output = destination && findToken(destination, quote.outputToken)
  // A quote lives for seconds: its route is configured unless the service was changed meanwhile.
  if (!origin || !input || !output) throw new ServiceError('QUOTE_EXPIRED')
  return { origin, input, output }
}

/** The quote with the amounts of the way asked for. */
export function getQuoteBy(quote: Quote, method: OriginMethod, methods: readonly OriginMethod[]): Quote {
  const priced = methods.includes(method) ? quoteBy(quote, method) : undefined
  if (priced) return priced
  const why = methods.length > 0 ? `It can by ${methods.join(', ')}` : 'It has no other way'
  throw new ServiceError('UNSUPPORTED_METHOD', {
    message: `This input of this wallet cannot come in by ${method}. ${why}.`,
    recovery: { methods },
  })
}

type Built = { chain: CatalogChain; escrow: Hex; quote: Quote; op: StoredOp }
type SignedTerms = Record<'wallet' | 'inputAmount' | 'opDeadline', string>

/** The fields of a build reply that tell how to pay: typed data to sign, or an address. */
export function toPayment({ chain, escrow, quote, op }: Built): Partial<BuildGeoOpReply> {
  const { method, permitNonce } = op
  const hash = op.hash as Hex
  if (method === 'deposit')
    return { depositAddress: depositAddressOf(escrow, hash), depositUntil: op.expiresAt.toISOString() }
  if (method !== 'authorization' && method !== 'permit') return {}
  const domain = domainOf(chain, quote)
  const signed = op.terms as SignedTerms
  const paid = {
    wallet: signed.wallet as Hex,
    inputAmount: BigInt(signed.inputAmount),
    opDeadline: BigInt(signed.opDeadline),
  }
  if (method === 'authorization') {
    const message = authorizationOf({ escrow }, hash, paid)
    return { typedData: toTokenTypedData(domain, { primaryType: 'ReceiveWithAuthorization', message }) }
  }
  const message = permitOf({ escrow }, hash, { ...paid, nonce: permitNonce ?? 0n })
  return { typedData: toTokenTypedData(domain, { primaryType: 'Permit', message }) }
}

function domainOf(chain: CatalogChain, { inputToken }: Quote) {
  const signing = (findToken(chain, inputToken) as Token | undefined)?.signing
  if (!signing) throw new ServiceError('QUOTE_EXPIRED')
  const { name, version } = signing
  return { name, version, chainId: chain.chainId, verifyingContract: inputToken as Hex }
}
