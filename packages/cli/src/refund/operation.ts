import {
  fromIndex,
  type GeoOp,
  geoOpDomain,
  hashDelivery,
  hashGeoOp,
  type OriginEscrow,
} from '@geoswap/protocol'
import { type Address, getAddress, type Hex } from 'viem'
import { CliError } from '../errors.ts'

/** An op that may be locked in an escrow, as the escrow is told of it. */
export type RefundableOp = {
  origin: OriginEscrow
  hash: Hex
  locker: Address
  position: bigint
  wallet: Address
  token: Address
  amount: bigint
  refundDeadline: bigint
  /** What `refund` takes beside the locker. */
  argument: Omit<GeoOp, 'delivery' | 'locker'> & { delivery: Hex }
}

/** Reads the `operation` of a build reply. A wrong field gives another hash, which no slot holds. */
export function readOperation(value: unknown): RefundableOp {
  try {
    return toRefundable(value as Record<'domain' | 'message', Record<string, unknown>>)
  } catch (cause) {
    const advice = 'It is the field operation of a reply of POST /swap/build-geo-op.'
    throw new CliError('USAGE', 'This is not the operation of an EVM swap.', { advice, cause })
  }
}

function toRefundable({
  domain,
  message,
}: Record<'domain' | 'message', Record<string, unknown>>): RefundableOp {
  const origin = geoOpDomain({
    chainId: Number(domain['chainId']),
    escrow: getAddress(String(domain['verifyingContract'])),
  })
  const place = { chainId: origin.chainId, escrow: origin.verifyingContract }
  const nested = message['delivery'] as Record<string, unknown>
  const delivery: GeoOp['delivery'] = {
    ...{ ring: toWord(nested['ring']), index: toInteger(nested['index']), vault: toWord(nested['vault']) },
    ...{
      destinationChain: toInteger(nested['destinationChain']),
      outputToken: toWord(nested['outputToken']),
    },
    ...{ minOutput: toInteger(nested['minOutput']), recipient: toWord(nested['recipient']) },
    fillDeadline: toInteger(nested['fillDeadline']),
  }
  const own = {
    ...{
      wallet: getAddress(String(message['wallet'])),
      inputToken: getAddress(String(message['inputToken'])),
    },
    ...{ inputAmount: toInteger(message['inputAmount']), index: toInteger(message['index']) },
    ...{ opDeadline: toInteger(message['opDeadline']), refundDeadline: toInteger(message['refundDeadline']) },
  }
  const locker = getAddress(String(message['locker']))
  return {
    ...{ origin: place, locker, position: fromIndex(own.index).position },
    ...{
      wallet: own.wallet,
      token: own.inputToken,
      amount: own.inputAmount,
      refundDeadline: own.refundDeadline,
    },
    hash: hashGeoOp(place, { ...own, locker, delivery }),
    argument: { ...own, delivery: hashDelivery(delivery) },
  }
}

function toInteger(value: unknown): bigint {
  if (typeof value !== 'string' || !/^\d+$/.test(value)) throw new TypeError('not an integer')
  return BigInt(value)
}

function toWord(value: unknown): Hex {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{64}$/i.test(value)) throw new TypeError('not 32 bytes')
  return value as Hex
}
