import { fromIndex, type GeoOp, hashDelivery, hashGeoOp, ringOf, toBytes32, toIndex } from '@geoswap/protocol'
import type { Op } from '../model/swap.ts'

type Hex = `0x${string}`
type ContractsOf = (chainId: number) => { escrow: Hex; vault: Hex }

/**
 * Rebuilds what the wallet signed from the stored fields and this attester's own configuration. Undefined
 * when they do not give the op's hash, or its deadlines are out of order: nothing is attested for such an op.
 */
export function rebuildOp(contractsOf: ContractsOf, op: Op): GeoOp | undefined {
  const origin = { chainId: op.originChain, escrow: contractsOf(op.originChain).escrow }
  const index = toIndex(op)
  const geoOp: GeoOp = {
    wallet: op.wallet as Hex,
    inputToken: op.inputToken as Hex,
    inputAmount: op.inputAmount,
    index,
    opDeadline: BigInt(op.opDeadline),
    refundDeadline: BigInt(op.refundDeadline),
    locker: op.locker as Hex,
    delivery: {
      ring: ringOf({ ...origin, locker: op.locker as Hex }),
      index,
      destinationChain: BigInt(op.destinationChain),
      vault: toBytes32(contractsOf(op.destinationChain).vault),
      outputToken: toBytes32(op.outputToken as Hex),
      minOutput: op.minOutput,
      recipient: toBytes32(op.recipient as Hex),
      fillDeadline: BigInt(op.fillDeadline),
    },
  }
  const isSigned = hashGeoOp(origin, geoOp) === op.hash && hashDelivery(geoOp.delivery) === op.deliveryHash
  const isOrdered = op.opDeadline < op.fillDeadline && op.fillDeadline < op.refundDeadline
  const isRound = fromIndex(index).round > 0n
  return isSigned && isOrdered && isRound ? geoOp : undefined
}
