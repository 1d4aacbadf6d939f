import {
  authorizationOf,
  DOMAIN_FIELDS,
  depositAddressOf,
  type GeoOp,
  geoOpDomain,
  geoOpTypes,
  permitOf,
  toTokenTypedData,
  transferTo,
} from '@geoswap/protocol'
import type { BuildGeoOpReply, OriginMethod, TypedData } from '@geoswap/wire'
import { type Address, getAddress, type Hex, numberToHex } from 'viem'
import { TamperedOperationError } from '../errors.ts'
import type { Abilities, DepositPayment } from '../signers.ts'
import { type Difference, differs } from './difference.ts'
import { readAddress, readText, readUint, toFields } from './read-fields.ts'

/** A checked op: its hash was computed here, and its terms are those of the request. */
export type CheckedOp = { chainId: number; escrow: Address; hash: Hex; op: GeoOp }

/** The act of a wallet for an op: it signs typed data, or sends exactly the input to the op's own address. */
export type Payment = { typedData: TypedData } | DepositPayment

export const canSend = ({ sendTransaction, sendPayment }: Abilities): boolean =>
  sendTransaction !== undefined || sendPayment !== undefined

type Way = {
  /** The member that a signer needs for it. */
  needs: keyof Abilities
  /** Only of a wallet without code of another provider. */
  isPlain?: boolean
  check(build: BuildGeoOpReply, checked: CheckedOp): Payment
}

const sent: Way = { needs: 'sendTransaction', check: checkSent }

export const ways: Readonly<Record<OriginMethod, Way>> = {
  delegation: {
    needs: 'signAuthorization',
    isPlain: true,
    check: (_build, checked) => ({ typedData: toGeoOpTypedData(checked) }),
  },
  authorization: {
    needs: 'signTypedData',
    check: byTypedData(({ escrow, hash, op }) => ({
      primaryType: 'ReceiveWithAuthorization',
      message: authorizationOf({ escrow }, hash, op),
    })),
  },
  permit: {
    needs: 'signTypedData',
    isPlain: true,
    check: byTypedData(({ escrow, hash, op }, given) => ({
      primaryType: 'Permit',
      message: permitOf({ escrow }, hash, { ...op, nonce: readUint(given, 'nonce') }),
    })),
  },
  deposit: sent,
  transfer: sent,
}

/**
 * Computes what to sign or where to send from the checked op: the service's own typed data and address have to
 * equal it. Only the name and version of a token's domain come from the service; with wrong ones a signature is void.
 */
export function checkPayment(build: BuildGeoOpReply, method: OriginMethod, checked: CheckedOp): Payment {
  const wrong = differs('method', build.method ?? 'delegation', method)
  if (wrong.length > 0) throw new TamperedOperationError(wrong)
  return ways[method].check(build, checked)
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

function checkSent(build: BuildGeoOpReply, { chainId, escrow, hash, op }: CheckedOp): Payment {
  const { depositAddress, depositUntil = '', transaction, sendCalls } = build
  const to = depositAddressOf(escrow, hash)
  const [token, amount, opDeadline] = [op.inputToken, op.inputAmount, Number(op.opDeadline)]
  const { value, ...call } = transferTo(to, { token, amount })
  const own = { chainId, ...call, value }
  const calls = sendCalls && (Array.isArray(sendCalls.calls) ? sendCalls.calls : [])
  // A capability could let another pay, or do more than the call.
  const capabilities = undefined
  const wrong = [
    ...differs('depositAddress', readAddress({ depositAddress }, 'depositAddress'), to),
    ...differsFrom('transaction', transaction, own),
    ...differsFrom('sendCalls', sendCalls, { from: op.wallet, chainId: numberToHex(chainId), capabilities }),
    ...differsFrom('sendCalls.calls', calls?.[0], { ...call, value: numberToHex(value), capabilities }),
    ...differs('sendCalls.calls', calls?.length ?? 1, 1),
  ]
  if (wrong.length > 0) throw new TamperedOperationError(wrong)
  const until = Date.parse(depositUntil) / 1_000
  const earlier = until < opDeadline ? until : opDeadline
  return { chainId, to, token, amount, transaction: own, until: earlier, opDeadline }
}

/** The service prepared the same; one of an earlier version prepares nothing. */
function differsFrom(field: string, given: object | undefined, own: object): Difference[] {
  if (given === undefined) return []
  const fields = toFields(given, field)
  return Object.entries(own).flatMap(([name, value]) =>
    differs(`${field}.${name}`, String(fields[name]).toLowerCase(), String(value).toLowerCase()),
  )
}

type Content = Parameters<typeof toTokenTypedData>[1]
type Compute = (checked: CheckedOp, given: Readonly<Record<string, unknown>>) => Content

/** The message is computed from the op; the message given by the service has to equal it. */
function byTypedData(contentOf: Compute): Way['check'] {
  return (build, checked) => {
    const { chainId, op } = checked
    const { domain, message, primaryType } = toFields(build.typedData, 'typedData')
    const place = toFields(domain, 'typedData.domain')
    const [name, version] = [readText(place, 'name'), readText(place, 'version')]
    const given = toFields(message, 'typedData.message')
    const named = { name, version, chainId, verifyingContract: op.inputToken }
    const own = toTokenTypedData(named, contentOf(checked, given))
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
    return { typedData: own }
  }
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
