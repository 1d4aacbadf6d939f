import type { Delivery, GeoOp } from '@geoswap/protocol'
import { type Address, getAddress, type Hex, isAddress } from 'viem'
import { TamperedOperationError } from '../errors.ts'

type Fields = Readonly<Record<string, unknown>>

/** Reads the op of a reply field by field. Throws if a field does not have its type. */
export function readGeoOp(message: unknown): GeoOp {
  const fields = toFields(message, 'operation.message')
  return {
    wallet: readAddress(fields, 'wallet'),
    inputToken: readAddress(fields, 'inputToken'),
    inputAmount: readUint(fields, 'inputAmount'),
    index: readUint(fields, 'index'),
    opDeadline: readUint(fields, 'opDeadline'),
    refundDeadline: readUint(fields, 'refundDeadline'),
    locker: readAddress(fields, 'locker'),
    delivery: readDelivery(fields['delivery']),
  }
}

export function readDelivery(delivery: unknown): Delivery {
  const fields = toFields(delivery, 'operation.delivery')
  return {
    ring: readWord(fields, 'ring'),
    index: readUint(fields, 'index'),
    destinationChain: readUint(fields, 'destinationChain'),
    vault: readWord(fields, 'vault'),
    outputToken: readWord(fields, 'outputToken'),
    minOutput: readUint(fields, 'minOutput'),
    recipient: readWord(fields, 'recipient'),
    fillDeadline: readUint(fields, 'fillDeadline'),
  }
}

export function toFields(value: unknown, field: string): Fields {
  if (typeof value === 'object' && value !== null) return value as Fields
  throw unreadable(field, value, 'an object')
}

export function readAddress(fields: Fields, field: string): Address {
  const value = fields[field]
  if (typeof value === 'string' && isAddress(value, { strict: false })) return getAddress(value)
  throw unreadable(field, value, 'an EVM address')
}

export function readText(fields: Fields, field: string): string {
  const value = fields[field]
  if (typeof value === 'string') return value
  throw unreadable(field, value, 'text')
}

function readWord(fields: Fields, field: string): Hex {
  const value = fields[field]
  if (typeof value === 'string' && /^0x[0-9a-fA-F]{64}$/.test(value)) return value.toLowerCase() as Hex
  throw unreadable(field, value, '32 bytes')
}

const UINT256_END = 1n << 256n

export function readUint(fields: Fields, field: string): bigint {
  const value = fields[field]
  const isDecimal = typeof value === 'string' && /^(0|[1-9]\d{0,77})$/.test(value)
  if (isDecimal && BigInt(value) < UINT256_END) return BigInt(value)
  throw unreadable(field, value, 'a decimal integer')
}

function unreadable(field: string, actual: unknown, expected: string): TamperedOperationError {
  return new TamperedOperationError([{ field, expected, actual: String(actual) }])
}
