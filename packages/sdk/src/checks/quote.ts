import type { QuoteReply, QuoteRequest } from '@geoswap/wire'
import { formatUnits } from 'viem'
import { SwapRefusedError, TamperedOperationError } from '../errors.ts'
import { type Difference, differs, unless } from './difference.ts'
import { readUint } from './read-fields.ts'

/** The caller knows that input and output are the same asset, so a quote can be judged without a price. */
export type SameAsset = {
  inputDecimals: number
  outputDecimals: number
  /** The most the swap may cost in all, slippage included; 500 when absent. */
  maxCostBps?: number | undefined
}

/** The caller's limits for a swap. */
export type SwapLimits = {
  /**
   * Total value lost: 100 refuses quotes whose priceImpactBps is below -100 or absent. The service computes
   * the figure.
   */
  maxPriceImpactBps?: number | undefined
  /**
   * The most that may leave the wallet. Required with exactOutput, unless `confirm` or `sameAsset` is given.
   */
  maxInput?: bigint | undefined
  /** The least that the signed operation may guarantee. */
  minOutput?: bigint | undefined
  /**
   * For pairs such as USDC and USDC: bounds the guaranteed output by the input, without the service's price.
   */
  sameAsset?: SameAsset | undefined
}

const BPS = 10_000n
// The largest slippage that the service applies by default.
const DEFAULT_SLIPPAGE_BPS = 300
const MAX_COST_BPS = 500

/** Throws unless the quote is for the request, since its amounts are signed. */
export function assertQuoteFits(request: QuoteRequest, quote: QuoteReply, family: string): void {
  const differences = quoteDifferences(request, quote, family)
  if (differences.length > 0) throw new TamperedOperationError(differences)
}

function quoteDifferences(request: QuoteRequest, quote: QuoteReply, family: string): Difference[] {
  const input = readUint(quote, 'input')
  const output = readUint(quote, 'output')
  const minOutput = readUint(quote, 'minOutput')
  const amount = request.amount === 'max' ? input : BigInt(request.amount)
  const most = request.maxEtaSeconds ?? Infinity
  const isExactOutput = request.tradeType === 'exactOutput'
  const least = isExactOutput ? amount : withSlippage(output, request.slippageBps)
  return [
    ...differs('quote.origin', quote.origin, family),
    ...(isExactOutput ? [] : differs('quote.input', input, amount)),
    ...unless(minOutput >= least, 'quote.minOutput', minOutput, `at least ${least}`),
    ...unless(minOutput > 0n, 'quote.minOutput', minOutput, 'more than nothing'),
    ...unless(minOutput <= output, 'quote.minOutput', minOutput, `at most the output, ${output}`),
    ...unless(!(quote.etaSeconds > most), 'quote.etaSeconds', quote.etaSeconds, `at most ${most}`),
  ]
}

function withSlippage(output: bigint, slippageBps = DEFAULT_SLIPPAGE_BPS): bigint {
  return (output * (BPS - BigInt(slippageBps))) / BPS
}

/** With exactOutput the service chooses the input, so the caller must bound or confirm it. */
export function assertInputIsBounded(
  { tradeType }: Pick<QuoteRequest, 'tradeType'>,
  { maxInput, sameAsset, confirm }: SwapLimits & { confirm?: unknown },
): void {
  if (tradeType !== 'exactOutput' || maxInput !== undefined || sameAsset || confirm) return
  const message = 'With exactOutput, limit the input: set maxInput or sameAsset, or confirm each quote.'
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
      `The price impact is ${impact}, at most ${maxPriceImpactBps} bps is allowed.`,
    )
  }
  if (maxInput !== undefined && BigInt(quote.input) > maxInput) {
    const [is, most] = [quote.input, maxInput].map((units) => inWhole(units, sameAsset?.inputDecimals))
    const message = `The input is ${is}, at most ${most} is allowed.`
    const amounts = { quoted: quote.input, allowed: `${maxInput}` }
    throw new SwapRefusedError('INPUT_LIMIT', message, { amounts })
  }
  if (minOutput !== undefined && BigInt(quote.minOutput) < minOutput) {
    const [is, least] = [quote.minOutput, minOutput].map((units) => inWhole(units, sameAsset?.outputDecimals))
    const message = `The guaranteed output is ${is}, at least ${least} is wanted.`
    const amounts = { quoted: quote.minOutput, allowed: `${minOutput}` }
    throw new SwapRefusedError('OUTPUT_LIMIT', message, { amounts })
  }
  if (sameAsset) assertCost(quote, sameAsset)
}

/** In whole tokens too, where the decimals are known. */
function inWhole(units: bigint | string, decimals: number | undefined): string {
  if (decimals === undefined) return `${units} smallest units`
  return `${formatUnits(BigInt(units), decimals)} tokens (${units} smallest units)`
}

function assertCost({ input, minOutput }: QuoteReply, sameAsset: SameAsset): void {
  const { inputDecimals, outputDecimals, maxCostBps = MAX_COST_BPS } = sameAsset
  const paid = BigInt(input) * 10n ** BigInt(outputDecimals)
  const guaranteed = BigInt(minOutput) * 10n ** BigInt(inputDecimals)
  if (guaranteed * BPS >= paid * (BPS - BigInt(maxCostBps))) return
  const message =
    `For ${inWhole(input, inputDecimals)} of the same asset, ${inWhole(minOutput, outputDecimals)} is guaranteed: ` +
    `the loss is above ${maxCostBps} bps.`
  throw new SwapRefusedError('OUTPUT_LIMIT', message)
}
