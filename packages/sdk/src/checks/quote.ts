import type { QuoteReply, QuoteRequest } from '@geoswap/wire'
import { SwapRefusedError, TamperedOperationError } from '../errors.ts'
import { type Difference, differs, unless } from './difference.ts'
import { readUint } from './read-fields.ts'

/** Input and output are one asset, as the caller knows: then no price is needed to judge a quote. */
export type SameAsset = {
  inputDecimals: number
  outputDecimals: number
  /** All that the swap may cost, slippage included; 500 when absent. */
  maxCostBps?: number | undefined
}

/** The worst that the caller puts up with. */
export type SwapLimits = {
  /** Of value lost, all in: 100 refuses quotes whose priceImpactBps is below -100, or absent. The service's figure. */
  maxPriceImpactBps?: number | undefined
  /** The most that may leave the wallet. Needed with exactOutput, unless there is `confirm` or `sameAsset`. */
  maxInput?: bigint | undefined
  /** The least that the signed operation may guarantee. */
  minOutput?: bigint | undefined
  /** For pairs such as USDC and USDC: bounds the guaranteed output by the input, without a price of the service's. */
  sameAsset?: SameAsset | undefined
}

const BPS = 10_000n
// The largest that the service takes by default.
const DEFAULT_SLIPPAGE_BPS = 300
const MAX_COST_BPS = 500

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
  const least = isExactOutput ? amount : withSlippage(output, request.slippageBps)
  return [
    ...differs('quote.origin', quote.origin, family),
    ...(isExactOutput ? [] : differs('quote.input', input, amount)),
    ...unless(minOutput >= least, 'quote.minOutput', minOutput, `at least ${least}`),
    ...unless(minOutput > 0n, 'quote.minOutput', minOutput, 'more than nothing'),
    ...unless(minOutput <= output, 'quote.minOutput', minOutput, `at most the output, ${output}`),
  ]
}

function withSlippage(output: bigint, slippageBps = DEFAULT_SLIPPAGE_BPS): bigint {
  return (output * (BPS - BigInt(slippageBps))) / BPS
}

/** With exactOutput the service says what leaves the wallet: somebody has to bound it, or to look at it. */
export function assertInputIsBounded(
  { tradeType }: Pick<QuoteRequest, 'tradeType'>,
  { maxInput, sameAsset, confirm }: SwapLimits & { confirm?: unknown },
): void {
  if (tradeType !== 'exactOutput' || maxInput !== undefined || sameAsset || confirm) return
  const message = 'With exactOutput, say how much may be paid: maxInput, sameAsset, or confirm each quote.'
  throw new SwapRefusedError('INPUT_LIMIT', message)
}

export function assertWithinLimits(quote: QuoteReply, limits: SwapLimits): void {
  const { maxPriceImpactBps, maxInput, minOutput, sameAsset } = limits
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
  if (sameAsset) assertCost(quote, sameAsset)
}

function assertCost({ input, minOutput }: QuoteReply, sameAsset: SameAsset): void {
  const { inputDecimals, outputDecimals, maxCostBps = MAX_COST_BPS } = sameAsset
  const paid = BigInt(input) * 10n ** BigInt(outputDecimals)
  const guaranteed = BigInt(minOutput) * 10n ** BigInt(inputDecimals)
  if (guaranteed * BPS >= paid * (BPS - BigInt(maxCostBps))) return
  const message = `For ${input} of the same asset ${minOutput} is guaranteed: more than ${maxCostBps} bps are lost.`
  throw new SwapRefusedError('OUTPUT_LIMIT', message)
}
