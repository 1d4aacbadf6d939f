import type { Delivery } from '@geoswap/protocol'
import { type Difference, differs, unless } from './difference.ts'
import { type CheckContext, type Terms, toWord } from './terms.ts'

// The clocks of the caller and of a chain may differ.
const CLOCK_SKEW_SECONDS = 300n

/** Compares the promised delivery with the request. */
export function deliveryDifferences(
  delivery: Delivery,
  terms: Terms,
  { destination, ...context }: CheckContext,
): Difference[] {
  const { minOutput, fillDeadline } = delivery
  return [
    ...differs('delivery.destinationChain', delivery.destinationChain, BigInt(terms.destinationChain)),
    ...differs('delivery.outputToken', delivery.outputToken, terms.outputToken),
    ...differs('delivery.recipient', delivery.recipient, terms.recipient),
    ...unless(minOutput >= terms.minOutput, 'delivery.minOutput', minOutput, `at least ${terms.minOutput}`),
    ...timeDifferences('delivery.fillDeadline', fillDeadline, context),
    ...(destination.vault === undefined
      ? []
      : differs('delivery.vault', delivery.vault, toWord(destination.vault))),
  ]
}

/** A deadline must be in the future, and close enough that the input cannot be held for long. */
export function timeDifferences(
  field: string,
  deadline: bigint,
  { nowSeconds, maxHoldSeconds }: Pick<CheckContext, 'nowSeconds' | 'maxHoldSeconds'>,
): Difference[] {
  const now = BigInt(nowSeconds)
  const last = now + BigInt(maxHoldSeconds)
  return [
    ...unless(deadline > now - CLOCK_SKEW_SECONDS, field, deadline, `after ${now}`),
    ...unless(deadline <= last, field, deadline, `at most ${last}`),
  ]
}
