import { ServiceError } from '../../errors.ts'
import type { Token } from '../../model/catalog.ts'
import type { QuoteStop, SwapSide } from '../../model/stop.ts'
import { stopsSide } from '../../model/stop.ts'
import type { Order } from './request.ts'

export type FindStop = (swap: { from: SwapSide; to: SwapSide }) => QuoteStop | undefined

const RETRY_AFTER_MS = 30_000

/**
 * Answers 503 if the operator, or a mismatch between chain and books, has stopped this order. Names the stopped part,
 * never the reason.
 */
export function assertNotStopped(findStop: FindStop, { origin, destination, input, output }: Order): void {
  const stop = findStop({ from: toSide(input), to: toSide(output) })
  if (!stop) return
  const isInput = stopsSide(stop, toSide(input))
  const chain = isInput ? origin : destination
  const { symbol } = isInput ? input : output
  const isRoute = stop.scope.kind === 'route'
  const what = isRoute
    ? `from ${input.symbol} on ${origin.name} to ${output.symbol} on ${destination.name}`
    : `of ${symbol} on ${chain.name}`
  throw new ServiceError('CHAIN_UNAVAILABLE', {
    message: `Swaps ${what} are stopped for now. Try again later, or choose another route.`,
    details: { chainId: chain.chainId, stopped: true },
    recovery: { retryAfterMs: RETRY_AFTER_MS },
  })
}

function toSide({ chainId, address, asset }: Token): SwapSide {
  return { chainId, token: address, asset }
}
