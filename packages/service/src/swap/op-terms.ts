import {
  type Delivery,
  type GeoOp,
  hashDelivery,
  hashGeoOp,
  ringOf,
  solanaRingOf,
  toBytes32,
  toIndex,
} from '@geoswap/protocol'
import type { Op } from './swap.ts'

type Hex = `0x${string}`

/**
 * The holders of inputs and inventory on a chain: two contracts, or on Solana the escrow program and the authority of
 * the vault.
 */
export type ChainCustody = { escrow: Hex; vault: Hex } | { program: string; vault: string }
export type CustodyOf = (chainId: number) => ChainCustody

/** The terms of an op that its hash commits to. */
export type OpContent = Pick<
  Op,
  | ('originChain' | 'destinationChain' | 'wallet' | 'inputToken' | 'inputAmount' | 'outputToken')
  | ('minOutput' | 'recipient' | 'locker' | 'position' | 'round')
  | ('opDeadline' | 'fillDeadline' | 'refundDeadline')
>

type OpTerms = { hash: Hex; deliveryHash: Hex; signed: GeoOp | Delivery }

/**
 * Computes the hashes that identify an op. With an escrow, the hash is the digest that the wallet signs, which includes
 * the delivery. On Solana the wallet signs the transfer itself, and the delivery hash identifies the op.
 */
export function termsOfOp(custodyOf: CustodyOf, op: OpContent): OpTerms {
  const origin = custodyOf(op.originChain)
  const delivery = toDelivery(custodyOf, op)
  const deliveryHash = hashDelivery(delivery)
  if (!('escrow' in origin)) return { hash: deliveryHash, deliveryHash, signed: delivery }
  const signed = toGeoOp(op, delivery)
  const hash = hashGeoOp({ chainId: op.originChain, escrow: origin.escrow }, signed)
  return { hash, deliveryHash, signed }
}

type RingRef = Pick<Op, 'originChain' | 'locker'>

export function ringOfOp(custodyOf: CustodyOf, { originChain: chainId, locker }: RingRef): Hex {
  const origin = custodyOf(chainId)
  if ('program' in origin) return solanaRingOf({ chainId, program: origin.program })
  return ringOf({ chainId, escrow: origin.escrow, locker: locker as Hex })
}

/** Whether all lockers of a chain share one ring, since their inputs have no positions in an escrow. */
export function isRingShared(custodyOf: CustodyOf, chainId: number): boolean {
  return 'program' in custodyOf(chainId)
}

function toDelivery(custodyOf: CustodyOf, op: OpContent): Delivery {
  return {
    ring: ringOfOp(custodyOf, op),
    index: toIndex(op),
    destinationChain: BigInt(op.destinationChain),
    vault: toBytes32(custodyOf(op.destinationChain).vault),
    outputToken: toBytes32(op.outputToken),
    minOutput: op.minOutput,
    recipient: toBytes32(op.recipient),
    fillDeadline: BigInt(op.fillDeadline),
  }
}

function toGeoOp(op: OpContent, delivery: Delivery): GeoOp {
  return {
    wallet: op.wallet as Hex,
    inputToken: op.inputToken as Hex,
    inputAmount: op.inputAmount,
    index: delivery.index,
    opDeadline: BigInt(op.opDeadline),
    refundDeadline: BigInt(op.refundDeadline),
    locker: op.locker as Hex,
    delivery,
  }
}

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
