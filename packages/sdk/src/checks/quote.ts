import type { QuoteReply, QuoteRequest } from '@geoswap/wire'
import { SwapRefusedError, TamperedOperationError } from '../errors.ts'
import { type Difference, differs, unless } from './difference.ts'
import { readUint } from './read-fields.ts'

/** The worst that the caller puts up with. */
export type SwapLimits = {
  /** Of value lost, all in: 100 refuses quotes whose priceImpactBps is below -100, or absent. */
  maxPriceImpactBps?: number | undefined
  /** The most that may leave the wallet; of use with exactOutput. */
  maxInput?: bigint | undefined
  /** The least that the signed operation may guarantee. */
  minOutput?: bigint | undefined
}

/** A quote has to be for what was asked: its amounts go into what is signed. */
export function assertQuoteFits(request: QuoteRequest, quote: QuoteReply, family: string): void {
  const differences = quoteDifferences(request, quote, family)
  if (differences.length > 0) throw new TamperedOperationError(differences)
}

function quoteDifferences(request: QuoteRequest, quote: QuoteReply, family: string): Difference[] {
  const input = readUint(quote, 'input')
  const output = readUint(quote, 'output')
  const minOutput = readUint(quote, 'minOutput')
  const amount = BigInt(request.amount)
  const isExactOutput = request.tradeType === 'exactOutput'
  return [
    ...differs('quote.origin', quote.origin, family),
    ...(isExactOutput
      ? unless(minOutput >= amount, 'quote.minOutput', minOutput, `at least ${amount}`)
      : differs('quote.input', input, amount)),
    ...unless(minOutput > 0n, 'quote.minOutput', minOutput, 'more than nothing'),
    ...unless(minOutput <= output, 'quote.minOutput', minOutput, `at most the output, ${output}`),
  ]
}

export function assertWithinLimits(quote: QuoteReply, limits: SwapLimits): void {
  const { maxPriceImpactBps, maxInput, minOutput } = limits
  const { priceImpactBps } = quote
  const isTooMuch = priceImpactBps === undefined || priceImpactBps < -(maxPriceImpactBps ?? 0)
  if (maxPriceImpactBps !== undefined && isTooMuch) {
    const impact = priceImpactBps === undefined ? 'not known' : `${priceImpactBps} bps`
    throw new SwapRefusedError(
      'PRICE_IMPACT',
      `The price impact is ${impact}, at most ${maxPriceImpactBps} is allowed.`,
    )
  }
  if (maxInput !== undefined && BigInt(quote.input) > maxInput)
    throw new SwapRefusedError('INPUT_LIMIT', `The input is ${quote.input}, at most ${maxInput} is allowed.`)
  if (minOutput !== undefined && BigInt(quote.minOutput) < minOutput) {
    const message = `The guaranteed output is ${quote.minOutput}, at least ${minOutput} is wanted.`
    throw new SwapRefusedError('OUTPUT_LIMIT', message)
  }
}
