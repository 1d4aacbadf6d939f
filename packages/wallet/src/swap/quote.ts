import { type Client, GeoswapError, type QuoteReply } from '@geoswap/sdk'
import { formatAmount, roundUp } from '../amounts.ts'
import type { Context } from '../context.ts'
import { UserError } from '../errors.ts'
import type { ReadyOrder } from '../order.ts'

type Io = Pick<Context, 'interrupts'>

/** Prices an order. A refusal of a small amount names one that is swapped without a further confirmation. */
export async function quoteOrder(io: Io, client: Client, ready: ReadyOrder): Promise<QuoteReply> {
  try {
    return await ask(io, client, ready, ready.request.amount)
  } catch (error) {
    throw await withWorkingAmount(io, client, ready, error)
  }
}

function ask({ interrupts }: Io, client: Client, { request, wallet }: ReadyOrder, amount: string) {
  return client.quote({ ...request, walletAddress: wallet.address, amount }, { signal: interrupts.signal })
}

const TRIES = 6
const TARGET_BPS = 400
const DIGITS = 2

/**
 * The same refusal with another smallest amount. That of the service leaves one unit of the output: the costs would
 * take nearly all of such an input, and nobody wants that.
 */
export async function withWorkingAmount(
  io: Io,
  client: Client,
  ready: ReadyOrder,
  error: unknown,
): Promise<unknown> {
  if (!(error instanceof GeoswapError) || error.code !== 'NEEDS_LARGER_SIZE') return error
  const { minAmount } = error.recovery as { minAmount?: unknown }
  if (typeof minAmount !== 'string' || !/^\d{1,78}$/.test(minAmount)) return error
  const found = await findWorkingAmount(io, client, ready, BigInt(minAmount)).catch((cause: unknown) => {
    if (cause instanceof GeoswapError) return undefined
    throw cause
  })
  if (found === undefined) return error
  const { decimals, symbol } = ready.request.tradeType === 'exactOutput' ? ready.order.to : ready.order.from
  const message = 'The service refuses the amount as too small for fee and network costs.'
  return new UserError('NEEDS_LARGER_SIZE', message, {
    advice: `The service quotes ${formatAmount(found, decimals)} ${symbol} without a high loss.`,
    details: { retryable: false, recovery: { ...error.recovery, minAmount: found.toString() } },
    cause: error,
  })
}

/** Costs hardly grow with the amount, so the loss of one quote says which amount would lose less. */
async function findWorkingAmount(
  io: Io,
  client: Client,
  ready: ReadyOrder,
  least: bigint,
): Promise<bigint | undefined> {
  let amount = roundUp(2n * least, DIGITS)
  for (let tries = 0; tries < TRIES; tries += 1) {
    const quote = await ask(io, client, ready, amount.toString())
    if (!hasHighImpact(quote, ready)) return amount
    const { priceImpactBps = 0 } = quote
    const factor = Math.ceil(-priceImpactBps / TARGET_BPS)
    if (!Number.isSafeInteger(factor)) return undefined
    amount = roundUp(amount * BigInt(Math.max(2, factor)), DIGITS)
  }
  return undefined
}

// The service warns at the same loss: such a swap is probably a mistake.
const HIGH_IMPACT_BPS = -500
const BPS = 10_000n

type Pair = Pick<ReadyOrder, 'from' | 'to' | 'isSameAsset'>
type Offer = Pick<QuoteReply, 'warnings' | 'priceImpactBps' | 'input' | 'minOutput'>

/** By the service's figures and, for the same asset, by input and guaranteed output. */
export function hasHighImpact({ warnings = [], priceImpactBps, ...offer }: Offer, pair: Pair): boolean {
  const isWarned = warnings.some(({ code }) => code === 'HIGH_PRICE_IMPACT')
  const isSaid = priceImpactBps === undefined || priceImpactBps <= HIGH_IMPACT_BPS
  return isWarned || isSaid || (pair.isSameAsset && losesMuch(offer, pair))
}

function losesMuch({ input, minOutput }: Pick<Offer, 'input' | 'minOutput'>, { from, to }: Pair): boolean {
  const paid = BigInt(input) * 10n ** BigInt(to.token.decimals)
  const guaranteed = BigInt(minOutput) * 10n ** BigInt(from.token.decimals)
  return guaranteed * BPS <= paid * (BPS + BigInt(HIGH_IMPACT_BPS))
}

/** True if only the service limits the input of an exact output: no limit is set, and the assets differ. */
export function isUnbounded(
  { request, limits, isSameAsset }: Pick<ReadyOrder, 'request' | 'limits' | 'isSameAsset'>,
  { acceptsImpact = false } = {},
): boolean {
  const isJudged = isSameAsset && !acceptsImpact
  return request.tradeType === 'exactOutput' && limits.maxInput === undefined && !isJudged
}
