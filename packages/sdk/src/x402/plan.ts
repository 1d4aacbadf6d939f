import type { QuoteReply, TokenEntry } from '@geoswap/wire'
import { familyOfAddress, toCaip2 } from '@geoswap/wire/caip'
import type { Client } from '../client.ts'
import { GeoswapError, plainText } from '../errors.ts'
import { byValue, lossOf, mostOf, toCents, usdValueOf, type X402Plan, type X402Source } from './choose.ts'
import { quoted, X402Error } from './errors.ts'
import type { X402Offer, X402Token } from './family.ts'
import { nameOf, type X402Demand } from './offers.ts'
import { families } from './registry.ts'

type Known = {
  client: Pick<Client, 'quote' | 'tokens'>
  /** Addresses. */
  payers: readonly string[]
  sources: readonly X402Source[]
  rpcUrls: Readonly<Record<number, string>>
  signal: AbortSignal | undefined
}

type Valued = { plan: X402Plan; value: bigint | undefined }

// Each is a call to the service, and somebody waits.
const MAX_QUOTES = 8
const MAX_SYMBOL = 32

/** The cheapest way to pay one of the offers: with what the payer holds, or by a swap from one of the sources. */
export async function planPayment(known: Known, { offers, unread }: X402Demand): Promise<X402Plan> {
  const [{ tokens }, read] = await Promise.all([
    known.client.tokens({}, { signal: known.signal }),
    Promise.all(offers.flatMap((offer) => readOffers(known, offer))),
  ])
  const find = (chainId: number, address: string) =>
    tokens.find((token) => token.chainId === chainId && isSame(token.address, address))
  const reasons = [...unread, ...read.filter((each) => typeof each === 'string')]
  const payable = read.flatMap((each): Valued[] => {
    if (typeof each === 'string') return []
    const { offer, payer, token } = each
    const listed = find(offer.chainId, offer.asset)
    if (listed && listed.decimals !== token.decimals)
      reasons.push(`${toCaip2(offer)}: chain and service contradict each other about ${offer.asset}`)
    const isRight = listed === undefined || listed.decimals === token.decimals
    const value = usdValueOf(offer.amount, listed)
    const symbol = token.symbol || (listed ? plainText(listed.symbol, MAX_SYMBOL) : offer.asset)
    const plan: X402Plan = { offer, token: { ...token, symbol }, payer, cents: toCents(value) }
    return isRight ? [{ plan, value }] : []
  })
  const isHeld = ({ plan }: Valued) => plan.token.held >= plan.offer.amount
  const [direct] = payable.filter(isHeld).sort(byValue)
  const missing = payable.filter((each) => !isHeld(each)).sort(byValue)
  const swapped = await quoteSwaps(known, missing, { direct, find, reasons })
  const [best] = [...(direct ? [direct] : []), ...swapped].sort(byValue)
  if (best) return best.plan
  for (const { plan } of missing)
    reasons.push(`${toCaip2(plan.offer)}: the wallet holds too little ${nameOf(plan.token.symbol)}`)
  throw new X402Error('X402_UNPAYABLE', 'None of the seller’s offers can be paid.', { reasons })
}

type Read = { offer: X402Offer; payer: string; token: X402Token }

/** With each payer that could pay it. */
function readOffers({ rpcUrls, payers }: Known, offer: X402Offer): Promise<Read | string>[] {
  const able = payers.filter((payer) => familyOfAddress(payer) === offer.family)
  if (able.length === 0) return [Promise.resolve(`${toCaip2(offer)}: no wallet of it is given to pay with`)]
  return able.map(async (payer) => {
    const token = await readToken(rpcUrls, offer, payer)
    return typeof token === 'string' ? token : { offer, payer, token }
  })
}

/** The offer's token by the payer's own node; a text if it cannot be paid with. */
export async function readToken(
  rpcUrls: Known['rpcUrls'],
  offer: X402Offer,
  payer: string,
): Promise<X402Token | string> {
  const where = toCaip2(offer)
  const rpcUrl = rpcUrls[offer.chainId]
  if (offer.payTo === payer) return `${where}: payTo is the payer`
  if (rpcUrl === undefined) return `${where}: no node of it is set`
  const token = await families[offer.family].readToken(rpcUrl, offer, payer)
  return typeof token === 'string' ? `${where}: ${token}` : token
}

type Priced = {
  direct: Valued | undefined
  find(chainId: number, address: string): TokenEntry | undefined
  reasons: string[]
}

/** A swap costs about the value of its output, so an offer above one that is held is not quoted. */
async function quoteSwaps(known: Known, missing: readonly Valued[], { direct, find, reasons }: Priced) {
  const found: Valued[] = []
  const cheaper = missing.filter((each) => direct === undefined || byValue(each, direct) < 0)
  const pairs = cheaper.flatMap(({ plan, value }) =>
    known.sources
      .filter(({ chainId, token }) => chainId !== plan.offer.chainId || !isSame(token, plan.offer.asset))
      .map((source) => ({ plan, value, source })),
  )
  for (const { plan, value, source } of pairs.slice(0, MAX_QUOTES)) {
    const quote = await quoteFor(known, plan, source)
    if (typeof quote === 'string') {
      reasons.push(`${source.token} on chain ${source.chainId}: ${quote}`)
      continue
    }
    const input = BigInt(quote.input)
    if (source.balance !== undefined && source.balance < input) continue
    const paid = usdValueOf(input, find(source.chainId, source.token))
    const swap = { source, quote, lossBps: lossOf(paid, value) }
    const spent = mostOf(paid, value)
    found.push({ plan: { ...plan, swap, cents: toCents(spent) }, value: spent })
  }
  return found
}

/** The request of a swap that brings exactly the amount of the offer to the payer. */
export function swapFor({ offer, payer }: X402Plan, source: X402Source) {
  return {
    originChain: source.chainId,
    destinationChain: offer.chainId,
    inputToken: source.token,
    outputToken: offer.asset,
    amount: offer.amount.toString(),
    tradeType: 'exactOutput' as const,
    walletAddress: source.wallet,
    recipient: payer,
  }
}

/** A refusal of the service concerns this pair alone. */
async function quoteFor(known: Known, plan: X402Plan, source: X402Source): Promise<QuoteReply | string> {
  try {
    const quote = await known.client.quote(swapFor(plan, source), { signal: known.signal })
    return /^[1-9]\d{0,77}$/.test(quote.input) ? quote : 'its quote cannot be read'
  } catch (error) {
    if (error instanceof GeoswapError && error.status >= 400 && error.status < 500)
      return `${error.code}, ${quoted(error.message)}`
    throw error
  }
}

const isSame = (a: string, b: string) => a === b || (/^0x/i.test(a) && a.toLowerCase() === b.toLowerCase())
