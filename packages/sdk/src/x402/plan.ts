import type { QuoteReply, TokenEntry } from '@geoswap/wire'
import type { Address } from 'viem'
import type { Client } from '../client.ts'
import { GeoswapError } from '../errors.ts'
import { byValue, lossOf, mostOf, toCents, usdValueOf, type X402Plan, type X402Source } from './choose.ts'
import { quoted, X402Error } from './errors.ts'
import { nameOf, type X402Demand, type X402Offer } from './offers.ts'
import { readToken } from './payment.ts'

type Known = {
  client: Pick<Client, 'quote' | 'tokens'>
  payer: Address
  sources: readonly X402Source[]
  rpcUrls: Readonly<Record<number, string>>
  signal: AbortSignal | undefined
}

type Valued = { plan: X402Plan; value: bigint | undefined }

// Each is a call to the service, and somebody waits.
const MAX_QUOTES = 8

/** The cheapest way to pay one of the offers: with what the payer holds, or by a swap from one of the sources. */
export async function planPayment(known: Known, { offers, unread }: X402Demand): Promise<X402Plan> {
  const [{ tokens }, read] = await Promise.all([
    known.client.tokens({}, { signal: known.signal }),
    Promise.all(offers.map((offer) => readOffer(known, offer))),
  ])
  const find = (chainId: number, address: string) =>
    tokens.find((token) => token.chainId === chainId && isSame(token.address, address))
  const reasons = [...unread, ...read.filter((each) => typeof each === 'string')]
  const payable = read.flatMap((each): Valued[] => {
    if (typeof each === 'string') return []
    const { offer, token } = each
    const listed = find(offer.chainId, offer.asset)
    if (listed && listed.decimals !== token.decimals)
      reasons.push(`eip155:${offer.chainId}: chain and service contradict each other about ${offer.asset}`)
    const isRight = listed === undefined || listed.decimals === token.decimals
    const value = usdValueOf(offer.amount, listed)
    const plan: X402Plan = { offer, token, payer: known.payer, cents: toCents(value) }
    return isRight ? [{ plan, value }] : []
  })
  const isHeld = ({ plan }: Valued) => plan.token.held >= plan.offer.amount
  const [direct] = payable.filter(isHeld).sort(byValue)
  const missing = payable.filter((each) => !isHeld(each)).sort(byValue)
  const swapped = await quoteSwaps(known, missing, { direct, find, reasons })
  const [best] = [...(direct ? [direct] : []), ...swapped].sort(byValue)
  if (best) return best.plan
  for (const { plan } of missing)
    reasons.push(`eip155:${plan.offer.chainId}: the wallet holds too little ${nameOf(plan.token.symbol)}`)
  throw new X402Error('X402_UNPAYABLE', 'None of the seller’s offers can be paid.', { reasons })
}

async function readOffer({ rpcUrls, payer }: Known, offer: X402Offer) {
  if (offer.payTo === payer) return `eip155:${offer.chainId}: payTo is the payer`
  const token = await readToken(rpcUrls[offer.chainId], offer, payer)
  return typeof token === 'string' ? token : { offer, token }
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
