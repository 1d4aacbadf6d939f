import { type PlaceOf, termsOfOp } from '../model/op-terms.ts'
import type { Op } from '../model/swap.ts'

/**
 * Whether the stored fields, with this attester's own configuration, give the name under which the op is known
 * on every chain, and its deadlines are in order: nothing is attested for any other op.
 */
export function isWellFormed(placeOf: PlaceOf, op: Op): boolean {
  const { hash, deliveryHash } = termsOfOp(placeOf, op)
  const isNamed = hash === op.hash && deliveryHash === op.deliveryHash
  const isOrdered = op.opDeadline < op.fillDeadline && op.fillDeadline < op.refundDeadline
  return isNamed && isOrdered && op.round > 0n
}
