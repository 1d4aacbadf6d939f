import { BPS, CENTI_BPS, convertDown, convertUp, divideUp, type Priced, usdE18 } from './amount.ts'

/** Everything a price depends on besides the amount: fixed for one quote. */
export type Terms = {
  input: Priced
  output: Priced
  feeCentiBps: bigint
  /** Network costs of both legs, already valued in the input token. */
  originCost: bigint
  deliveryCost: bigint
  /** Of an account that the recipient has to be given first; 0 where there is none to give. */
  accountRent: bigint
}

export type Breakdown = {
  amountIn: bigint
  amountOut: bigint
  serviceFee: bigint
  originCost: bigint
  deliveryCost: bigint
  accountRent: bigint
}

/**
 * What an exact input buys: the input minus fee and costs, at the reference price. The fee rounds up and
 * the output down. Undefined when nothing is left to swap.
 */
export function priceExactInput(terms: Terms, amountIn: bigint): Breakdown | undefined {
  const serviceFee = divideUp(amountIn * terms.feeCentiBps, CENTI_BPS)
  const { originCost, deliveryCost, accountRent } = terms
  const swappable = amountIn - serviceFee - originCost - deliveryCost - accountRent
  if (swappable <= 0n) return undefined
  const amountOut = convertDown(swappable, terms.input, terms.output)
  if (amountOut === 0n) return undefined
  return { amountIn, amountOut, serviceFee, originCost, deliveryCost, accountRent }
}

/** The smallest input that buys at least `amountOut`: the exact inverse of `priceExactInput`. */
export function inputFor(terms: Terms, amountOut: bigint): bigint {
  const swappable = convertUp(amountOut, terms.output, terms.input)
  const afterFee = swappable + terms.originCost + terms.deliveryCost + terms.accountRent
  return divideUp(afterFee * CENTI_BPS, CENTI_BPS - terms.feeCentiBps)
}

/** The largest input that buys no more than `available`. */
export const largestInput = (terms: Terms, available: bigint): bigint => inputFor(terms, available + 1n) - 1n

export function withSlippage(amountOut: bigint, slippageBps: number): bigint {
  return (amountOut * (BPS - BigInt(slippageBps))) / BPS
}

/** The all-in change of value from input to output in basis points, negative for a loss, rounded down. */
export function priceImpactBps(terms: Pick<Terms, 'input' | 'output'>, amounts: Amounts): number {
  const valueIn = usdE18(amounts.amountIn, terms.input)
  const valueOut = usdE18(amounts.amountOut, terms.output)
  if (valueIn === 0n) return 0
  const change = (valueOut - valueIn) * BPS
  const truncated = change / valueIn
  return Number(change < 0n && truncated * valueIn !== change ? truncated - 1n : truncated)
}

type Amounts = { amountIn: bigint; amountOut: bigint }
