import { type Delivery, type GeoOp, geoOpDomain, hashGeoOp, ringOf } from '@geoswap/protocol'
import type { BuildGeoOpReply } from '@geoswap/wire'
import { type Address, getAddress, type Hex } from 'viem'
import { TamperedOperationError } from '../errors.ts'
import { type Difference, differs, unless } from './difference.ts'
import { readAddress, readGeoOp, toFields } from './read-fields.ts'
import { type CheckContext, SKEW_SECONDS, type Terms, toWord } from './terms.ts'

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
    ...unless(deadline > now - BigInt(SKEW_SECONDS), field, deadline, `after ${now}`),
    ...unless(deadline <= last, field, deadline, `at most ${last}`),
  ]
}

/**
 * Returns the hash to sign, computed here from the decoded op and local types. Throws unless it equals the
 * hash in the reply and every term of the op matches the request.
 */
export function checkGeoOp(build: BuildGeoOpReply, terms: Terms, context: CheckContext): Hex {
  const { domain, message } = toFields(build.operation, 'operation')
  const op = readGeoOp(message)
  const escrow = readAddress(toFields(domain, 'operation.domain'), 'verifyingContract')
  const hash = hashGeoOp({ chainId: terms.originChain, escrow }, op)
  const differences = [
    ...domainDifferences(build, terms, escrow),
    ...opDifferences(op, terms, escrow),
    ...deadlineDifferences(op, context),
    ...deliveryDifferences(op.delivery, terms, context),
    ...differs('domain.verifyingContract', escrow, getAddress(context.origin.escrow)),
    ...differs('geoOpHash', build.geoOpHash.toLowerCase(), hash),
  ]
  if (differences.length > 0) throw new TamperedOperationError(differences)
  return hash
}

/**
 * The hash uses the chain of the request. Name and version must match too, or the hash is not that of an op.
 */
function domainDifferences({ operation }: BuildGeoOpReply, terms: Terms, escrow: Address): Difference[] {
  const { name, version, chainId } = geoOpDomain({ chainId: terms.originChain, escrow })
  return [
    ...differs('domain.name', String(operation.domain['name']), name),
    ...differs('domain.version', String(operation.domain['version']), version),
    ...differs('domain.chainId', Number(operation.domain['chainId']), chainId),
    ...differs('primaryType', operation.primaryType, 'GeoOp'),
  ]
}

function opDifferences(op: GeoOp, terms: Terms, escrow: Address): Difference[] {
  const { originChain: chainId } = terms
  return [
    ...differs('wallet', op.wallet, getAddress(terms.wallet)),
    ...differs('inputToken', op.inputToken, getAddress(terms.inputToken)),
    ...differs('inputAmount', op.inputAmount, terms.inputAmount),
    // The delivery must name this op's index: a delivery paid for another op proves nothing for this one.
    ...differs('delivery.index', op.delivery.index, op.index),
    ...differs('delivery.ring', op.delivery.ring, ringOf({ chainId, escrow, locker: op.locker })),
  ]
}

function deadlineDifferences(op: GeoOp, context: CheckContext): Difference[] {
  const { opDeadline, refundDeadline, delivery } = op
  const fill = delivery.fillDeadline
  return [
    ...timeDifferences('opDeadline', opDeadline, context),
    ...timeDifferences('refundDeadline', refundDeadline, context),
    ...unless(opDeadline < fill, 'opDeadline', opDeadline, `before the fill deadline ${fill}`),
    ...unless(fill < refundDeadline, 'refundDeadline', refundDeadline, `after the fill deadline ${fill}`),
  ]
}
