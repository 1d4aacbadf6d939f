import { type Address, getAddress, type Hex } from 'viem'
import { fromIndex, type GeoOp, hashDelivery, hashGeoOp, type OriginEscrow } from './geo-op.ts'

/** An op that may be locked in an escrow, as the escrow receives it. */
export type RefundableOp = {
  origin: OriginEscrow
  hash: Hex
  locker: Address
  position: bigint
  wallet: Address
  token: Address
  amount: bigint
  fillDeadline: bigint
  refundDeadline: bigint
  /** The argument of `refund`, besides the locker. */
  argument: Omit<GeoOp, 'delivery' | 'locker'> & { delivery: Hex }
}

type Fields = Readonly<Record<string, unknown>>

/**
 * Reads the `operation` of a build reply of an EVM chain. Throws on any other value. A wrong field yields a
 * hash that no slot holds.
 */
export function readRefundableOp(operation: unknown): RefundableOp {
  const { domain, message } = operation as Record<'domain' | 'message', Fields>
  const origin = { chainId: Number(domain['chainId']), escrow: toAddress(domain['verifyingContract']) }
  const locker = toAddress(message['locker'])
  const delivery = toDelivery(message['delivery'] as Fields)
  const own = {
    wallet: toAddress(message['wallet']),
    inputToken: toAddress(message['inputToken']),
    inputAmount: toInteger(message['inputAmount']),
    index: toInteger(message['index']),
    opDeadline: toInteger(message['opDeadline']),
    refundDeadline: toInteger(message['refundDeadline']),
  }
  return {
    origin,
    locker,
    hash: hashGeoOp(origin, { ...own, locker, delivery }),
    position: fromIndex(own.index).position,
    wallet: own.wallet,
    token: own.inputToken,
    amount: own.inputAmount,
    fillDeadline: delivery.fillDeadline,
    refundDeadline: own.refundDeadline,
    argument: { ...own, delivery: hashDelivery(delivery) },
  }
}

function toDelivery(nested: Fields): GeoOp['delivery'] {
  return {
    ring: toWord(nested['ring']),
    index: toInteger(nested['index']),
    destinationChain: toInteger(nested['destinationChain']),
    vault: toWord(nested['vault']),
    outputToken: toWord(nested['outputToken']),
    minOutput: toInteger(nested['minOutput']),
    recipient: toWord(nested['recipient']),
    fillDeadline: toInteger(nested['fillDeadline']),
  }
}

function toAddress(value: unknown): Address {
  return getAddress(String(value))
}

function toInteger(value: unknown): bigint {
  if (typeof value !== 'string' || !/^\d+$/.test(value)) throw new TypeError('not an integer')
  return BigInt(value)
}

function toWord(value: unknown): Hex {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{64}$/i.test(value)) throw new TypeError('not 32 bytes')
  return value as Hex
}
