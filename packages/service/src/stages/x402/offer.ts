import {
  type BuildGeoOpReply,
  familyOfAddress,
  type NamedQuoteRequest,
  type QuoteReply,
  type SubmitReply,
  toChainRef,
  type X402Request,
} from '@geoswap/wire'
import type { PaidInput, PaymentOffer } from '../../chains/chain.ts'
import { invalidRequest, ServiceError } from '../../errors.ts'
import type { PayableOp } from '../../store/ops.ts'
import { type Catalog, type CatalogChain, findChain, findToken, toCaip2 } from '../../swap/catalog.ts'

export type OfferDeps = {
  catalog: Catalog
  quote(request: NamedQuoteRequest): QuoteReply | Promise<QuoteReply>
  build(geoQuoteToken: string): Promise<BuildGeoOpReply>
  transfers: TransferPort
  now(): number
}

/** Of chains where payers make the transaction that takes their input. */
type TransferPort = {
  takes(chain: CatalogChain): boolean
  offer(geoQuoteToken: string): Promise<PaymentOffer & { expiresAt: Date; asset: string }>
  /** Undefined if the transaction is no payment that its wallet signed. */
  read(chainId: number, transaction: string): Promise<PaidInput | undefined>
  submit(op: PayableOp, paid: PaidInput): Promise<SubmitReply>
}

/** One way to pay: the requirements of x402, version 2. */
export type Offer = {
  chain: CatalogChain
  scheme: 'exact'
  network: string
  amount: string
  asset: string
  payTo: string
  maxTimeoutSeconds: number
  extra: Record<string, unknown>
}

// Each offer takes a slot of a locker until it expires, and its terms have to fit into a header.
const MAX_ORIGINS = 3
// A payer counts the time by its own clock.
const CLOCKS_APART_SECONDS = 30

/**
 * Quotes and builds the swap from each origin. Leaves out one that is refused if another is not: without any offer the
 * first refusal is the answer.
 */
export async function offer(deps: OfferDeps, request: X402Request): Promise<Offer[]> {
  const orders = toOrders(deps, request)
  const made = await Promise.allSettled(orders.map((order) => offerFrom(deps, order)))
  const offers = made.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  const [failed] = made.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
  if (offers.length === 0) throw failed
  return offers
}

type OriginOrder = { chain: CatalogChain; order: NamedQuoteRequest }

function toOrders(deps: OfferDeps, request: X402Request): OriginOrder[] {
  const origins = request.originChain.split(',')
  const tokens = request.inputToken.split(',')
  if (origins.length > MAX_ORIGINS)
    throw invalidRequest({ field: 'originChain', message: `must name at most ${MAX_ORIGINS} chains` })
  if (tokens.length !== 1 && tokens.length !== origins.length)
    throw invalidRequest({ field: 'inputToken', message: 'must be one token, or one for each origin chain' })
  return origins.map((text, index) => {
    const chain = getOrigin(deps, text)
    const { outputToken, amount, recipient } = request
    const order = {
      originChain: chain.chainId,
      destinationChain: toChainRef(request.destinationChain),
      inputToken: tokens[tokens.length === 1 ? 0 : index] ?? '',
      ...{ outputToken, amount, recipient, walletAddress: payerOf(chain, request) },
    }
    return { chain, order }
  })
}

function getOrigin(deps: OfferDeps, text: string): CatalogChain {
  const { catalog } = deps
  const chain = findChain(catalog, toChainRef(text))
  if (chain && takesPayments(deps)(chain)) return chain
  const supported = [...catalog.chains.values()].filter(takesPayments(deps)).map(toCaip2)
  throw new ServiceError('UNSUPPORTED_CHAIN', {
    message: `A payment cannot come from ${text.slice(0, 50)}. It can from ${supported.join(', ')}.`,
    details: { field: 'originChain', supported },
  })
}

const takesPayments = (deps: Pick<OfferDeps, 'transfers'>) => (chain: CatalogChain) =>
  deps.transfers.takes(chain) || chain.tokens.some(({ signing }) => signing?.methods.includes('payment'))

/** A refund goes to the payer: the recipient itself, where it can be one. */
function payerOf({ family }: CatalogChain, { wallet, recipient }: X402Request): string {
  if (wallet !== undefined) return wallet
  const address = recipient.split(':').at(-1) ?? ''
  if (familyOfAddress(address) === family) return address
  throw invalidRequest({
    field: 'wallet',
    message: 'is required: the address that pays, and is paid back, since the recipient is of another family',
  })
}

async function offerFrom(deps: OfferDeps, { chain, order }: OriginOrder): Promise<Offer> {
  const quote = await deps.quote(order)
  const { feeBps, etaSeconds, warnings } = quote
  const { priced, payTo, asset, deadline, expiresAt, extra } = deps.transfers.takes(chain)
    ? await byTransfer(deps, quote)
    : await byAuthorization(deps, chain, quote)
  const { input, output, minOutput } = priced
  return {
    chain,
    scheme: 'exact',
    network: toCaip2(chain),
    amount: input,
    asset,
    payTo,
    maxTimeoutSeconds: Math.ceil(deadline - deps.now() / 1_000) + CLOCKS_APART_SECONDS,
    extra: { ...extra, quote: { input, output, minOutput, feeBps, etaSeconds, expiresAt, warnings } },
  }
}

async function byAuthorization(deps: OfferDeps, chain: CatalogChain, quote: QuoteReply) {
  const priced = quote.originMethods?.find((way) => (way.method as string) === 'payment')
  const { depositAddress: payTo, operation, expiresAt } = await deps.build(quote.geoQuoteToken)
  const { inputToken, opDeadline } = operation.message as { inputToken: string; opDeadline: string }
  const signing = findToken(chain, inputToken)?.signing
  if (!priced || !payTo || !signing) throw new ServiceError('QUOTE_EXPIRED')
  const { name, version } = signing
  const deadline = Number(opDeadline)
  return { priced, payTo, asset: inputToken, deadline, expiresAt, extra: { name, version, operation } }
}

async function byTransfer(deps: OfferDeps, quote: QuoteReply) {
  const { payTo, asset, expiresAt, ...extra } = await deps.transfers.offer(quote.geoQuoteToken)
  const deadline = expiresAt.getTime() / 1_000
  return { priced: quote, payTo, asset, deadline, expiresAt: expiresAt.toISOString(), extra }
}
