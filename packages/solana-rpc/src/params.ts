import { type Address, address, getBase58Encoder, isAddress, isSignature } from '@solana/kit'
import { isObject } from './json.ts'
import type { Ledger } from './ledger.ts'
import { invalidParams, MIN_CONTEXT_SLOT, RpcError } from './rpc-error.ts'
import { COMMITMENTS, type Commitment, slotAt } from './slots.ts'

export type Config = Record<string, unknown>
type Bank = { slot: number; context: { slot: number; apiVersion: string } }

// The Agave version whose runtime LiteSVM 1.4 embeds.
export const API_VERSION = '4.2.1'

export function readAddress(value: unknown): Address {
  if (typeof value !== 'string' || !isAddress(value)) throw invalidParams('Invalid param: Invalid')
  return address(value)
}

export function readSignature(value: unknown): string {
  if (typeof value !== 'string' || !isSignature(value)) throw invalidParams('Invalid param: Invalid')
  return value
}

export function readArray(value: unknown, options: { max: number }): unknown[] {
  if (!Array.isArray(value)) throw invalidParams('Invalid params: expected a sequence')
  if (value.length > options.max) throw invalidParams(`Too many inputs provided; max ${options.max}`)
  return value
}

/** The options object at the end of most parameter lists. Empty if absent. */
export function readConfig(value: unknown): Config {
  if (value === undefined || value === null) return {}
  if (!isObject(value)) throw invalidParams('Invalid params: expected a map')
  return value
}

export function readU64(value: unknown): bigint {
  const isInteger = typeof value === 'bigint' || Number.isSafeInteger(value)
  const integer = isInteger ? BigInt(value as bigint | number) : -1n
  if (integer < 0n || integer >= 1n << 64n) throw invalidParams('Invalid params: expected u64')
  return integer
}

/** A count or position small enough to be a number. Undefined if absent. */
export function findInteger(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined
  const integer = readU64(value)
  return integer > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(integer)
}

export function findBoolean(value: unknown): boolean {
  if (value === undefined || value === null) return false
  if (typeof value !== 'boolean') throw invalidParams('Invalid params: expected a boolean')
  return value
}

export function readCommitment(value: unknown): Commitment {
  if (value === undefined || value === null) return 'finalized'
  const commitment = COMMITMENTS.find((known) => known === value)
  if (!commitment) throw invalidParams('Invalid params: unknown variant, expected a commitment')
  return commitment
}

/** As on real nodes, which keep history only for confirmed blocks. */
export function readHistoryCommitment(value: unknown): Commitment {
  const commitment = readCommitment(value)
  if (commitment === 'processed') throw invalidParams('Method does not support commitment below `confirmed`')
  return commitment
}

/** The bank that answers a read. Refuses if it has not reached the caller's `minContextSlot`. */
export function readBank(ledger: Ledger, config: Config): Bank {
  const slot = slotAt(ledger.slots, readCommitment(config.commitment))
  const minContextSlot = findInteger(config.minContextSlot)
  if (minContextSlot !== undefined && slot < minContextSlot) {
    throw new RpcError(MIN_CONTEXT_SLOT, 'Minimum context slot has not been reached', { contextSlot: slot })
  }
  return { slot, context: { slot, apiVersion: API_VERSION } }
}

/** Decodes the client's text to bytes; like real nodes, base58 unless base64 is named. */
export function readBytes(value: unknown, encoding: unknown): Uint8Array {
  if (typeof value !== 'string') throw invalidParams('Invalid params: expected a string')
  if (encoding === 'base64') {
    const bytes = Buffer.from(value, 'base64')
    if (bytes.toString('base64') !== value) throw invalidParams('invalid base64 encoding')
    return Uint8Array.from(bytes)
  }
  if (encoding !== undefined && encoding !== null && encoding !== 'base58') {
    throw invalidParams(`unsupported encoding: ${String(encoding)}. Supported encodings: base58, base64`)
  }
  // Longer base58 takes quadratic time to decode and cannot be a transaction of 1232 bytes.
  if (value.length > 1700) throw invalidParams('base58 encoded value too large')
  try {
    return Uint8Array.from(getBase58Encoder().encode(value))
  } catch {
    throw invalidParams('invalid base58 encoding')
  }
}
