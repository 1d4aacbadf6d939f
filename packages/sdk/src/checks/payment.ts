import {
  authorizationOf,
  DOMAIN_FIELDS,
  depositAddressOf,
  type GeoOp,
  geoOpDomain,
  geoOpTypes,
  permitOf,
  toTokenTypedData,
} from '@geoswap/protocol'
import type { BuildGeoOpReply, OriginMethod, TypedData } from '@geoswap/wire'
import { type Address, getAddress, type Hex } from 'viem'
import { TamperedOperationError } from '../errors.ts'
import { type Difference, differs } from './difference.ts'
import { readAddress, readText, readUint, toFields } from './read-fields.ts'

/** A checked op: its hash was computed here, and its terms are those of the request. */
export type CheckedOp = { chainId: number; escrow: Address; hash: Hex; op: GeoOp }

/** The act of a wallet for an op: it signs typed data, or sends exactly the input to the op's own address. */
export type Payment = { typedData: TypedData } | { to: Address; token: Address; amount: bigint }

/**
 * Computes what to sign or where to send from the checked op: the service's own typed data and address have to
 * equal it. Only the name and version of a token's domain come from the service; with wrong ones a signature is void.
 */
export function checkPayment(build: BuildGeoOpReply, method: OriginMethod, checked: CheckedOp): Payment {
  const wrong = differs('method', build.method ?? 'delegation', method)
  if (wrong.length > 0) throw new TamperedOperationError(wrong)
  if (method === 'delegation') return { typedData: toGeoOpTypedData(checked) }
  if (method === 'deposit') return checkDeposit(build, checked)
  return { typedData: checkTypedData(build, method, checked) }
}

function toGeoOpTypedData({ chainId, escrow, op }: CheckedOp): TypedData {
  const { delivery, ...own } = op
  return {
    domain: geoOpDomain({ chainId, escrow }),
    types: {
      EIP712Domain: [...DOMAIN_FIELDS],
      GeoOp: [...geoOpTypes.GeoOp],
      Delivery: [...geoOpTypes.Delivery],
    },
    primaryType: 'GeoOp',
    message: { ...toTexts(own), delivery: toTexts(delivery) },
  }
}

const toTexts = (fields: Readonly<Record<string, string | bigint>>) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]))

function checkDeposit({ depositAddress }: BuildGeoOpReply, { escrow, hash, op }: CheckedOp): Payment {
  const to = depositAddressOf(escrow, hash)
  const wrong = differs('depositAddress', readAddress({ depositAddress }, 'depositAddress'), to)
  if (wrong.length > 0) throw new TamperedOperationError(wrong)
  return { to, token: op.inputToken, amount: op.inputAmount }
}

function checkTypedData(
  build: BuildGeoOpReply,
  method: 'authorization' | 'permit',
  { chainId, escrow, hash, op }: CheckedOp,
): TypedData {
  const { domain, message, primaryType } = toFields(build.typedData, 'typedData')
  const place = toFields(domain, 'typedData.domain')
  const [name, version] = [readText(place, 'name'), readText(place, 'version')]
  const named = { name, version, chainId, verifyingContract: op.inputToken }
  const given = toFields(message, 'typedData.message')
  const own =
    method === 'authorization'
      ? toTokenTypedData(named, {
          primaryType: 'ReceiveWithAuthorization',
          message: authorizationOf({ escrow }, hash, op),
        })
      : toTokenTypedData(named, {
          primaryType: 'Permit',
          message: permitOf({ escrow }, hash, { ...op, nonce: readUint(given, 'nonce') }),
        })
  const differences = [
    ...differs('typedData.primaryType', String(primaryType), own.primaryType),
    ...differs('typedData.domain.chainId', Number(place['chainId']), chainId),
    ...differs(
      'typedData.domain.verifyingContract',
      getAddress(String(place['verifyingContract'])),
      getAddress(op.inputToken),
    ),
    ...messageDifferences(given, own.message),
  ]
  if (differences.length > 0) throw new TamperedOperationError(differences)
  return own
}

function messageDifferences(
  given: Readonly<Record<string, unknown>>,
  own: Readonly<Record<string, string>>,
): Difference[] {
  const names = new Set([...Object.keys(given), ...Object.keys(own)])
  return [...names].flatMap((name) =>
    differs(`typedData.message.${name}`, String(given[name]).toLowerCase(), String(own[name]).toLowerCase()),
  )
}
