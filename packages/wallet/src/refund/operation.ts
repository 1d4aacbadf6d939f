import { type RefundableOp, readRefundableOp } from '@geoswap/protocol'
import { UserError } from '../errors.ts'

export type { RefundableOp } from '@geoswap/protocol'

/** Reads the `operation` of a build reply. A wrong field yields a hash that no slot holds. */
export function readOperation(value: unknown): RefundableOp {
  try {
    return readRefundableOp(value)
  } catch (cause) {
    const advice = 'It is the field operation of a reply of POST /swap/build-geo-op.'
    throw new UserError('USAGE', 'This is not the operation of an EVM swap.', { advice, cause })
  }
}
