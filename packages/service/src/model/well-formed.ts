import { type CustodyOf, termsOfOp } from './op-terms.ts'
import type { Op } from './swap.ts'

/**
 * Whether the stored fields, with this process's own configuration, give the op's hashes, and its deadlines are in
 * order.
 */
export function isWellFormed(custodyOf: CustodyOf, op: Op): boolean {
  const isOrdered = op.opDeadline < op.fillDeadline && op.fillDeadline < op.refundDeadline
  return isOrdered && op.round > 0n && isNamed(custodyOf, op)
}

function isNamed(custodyOf: CustodyOf, op: Op): boolean {
  try {
    const { hash, deliveryHash } = termsOfOp(custodyOf, op)
    return hash === op.hash && deliveryHash === op.deliveryHash
  } catch {
    // The address, number or chain is invalid.
    return false
  }
}
