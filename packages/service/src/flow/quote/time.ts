import type { QuoteWarning } from '@geoswap/wire'
import { ServiceError } from '../../errors.ts'
import { formatBoth, mostWithin, type Priced } from '../../model/amount.ts'
import { mostCentsWithin, type RouteSpeed } from '../../model/eta.ts'
import { describeSeconds } from '../../model/finality.ts'
import { tokenOf } from './choose.ts'
import type { Order } from './request.ts'

/** The largest input that settles within this time; undefined if every input does. */
export function mostInputWithin(speed: RouteSpeed, seconds: number, input: Priced): bigint | undefined {
  const cents = mostCentsWithin(speed, seconds)
  return cents === undefined ? undefined : mostWithin(cents, input)
}

/** 422 with the largest amount that settles within the caller's time limit; 0 if none does now. */
export function tooSlow(order: Order, etaSeconds: number, maxAmount: bigint): ServiceError {
  const { origin, destination } = order
  const time = describeSeconds(etaSeconds)
  const most = formatBoth(maxAmount, tokenOf(order))
  if (maxAmount > 0n)
    return new ServiceError('INSUFFICIENT_LIQUIDITY', {
      message: `A swap of this size takes about ${time} now. Ask for at most ${most}, or allow more time.`,
      details: { etaSeconds },
      recovery: { maxAmount: maxAmount.toString() },
    })
  const route = `from ${origin.name} to ${destination.name}`
  return new ServiceError('INSUFFICIENT_LIQUIDITY', {
    message: `A swap ${route} takes about ${time} now. Allow more time, or try later.`,
    details: { etaSeconds },
    recovery: { action: 'RETRY_LATER', maxAmount: '0', retryAfterMs: 60_000 },
  })
}

export function slowSettlement({ origin }: Order, etaSeconds: number): QuoteWarning {
  return {
    code: 'SLOW_SETTLEMENT',
    message: `The input has to be final on ${origin.name} first: this takes about ${describeSeconds(etaSeconds)}.`,
  }
}
