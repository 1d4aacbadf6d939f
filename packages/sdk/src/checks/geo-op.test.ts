import { type Delivery, type GeoOp, hashGeoOp, ringOf } from '@geoswap/protocol'
import fc from 'fast-check'
import { getAddress, type Hex, pad, toHex } from 'viem'
import { describe, expect, test } from 'vitest'
import {
  account,
  addressOf,
  buildOf,
  evmQuote,
  evmRequest,
  nowSeconds,
  opFor,
  origin,
  vault,
  wordOf,
} from '../../test/evm-offer.ts'
import { TamperedOperationError } from '../errors.ts'
import { checkGeoOp } from './geo-op.ts'
import { type CheckContext, toTerms } from './terms.ts'

const terms = toTerms(evmRequest, evmQuote)
const honest = opFor(evmRequest, evmQuote)
const context: CheckContext = {
  nowSeconds: nowSeconds(),
  maxHoldSeconds: 86_400,
  origin: { account, escrow: origin.escrow },
  destination: { vault },
}

const withDelivery = (change: Partial<Delivery>): GeoOp => ({
  ...honest,
  delivery: { ...honest.delivery, ...change },
})
const fieldsRefused = (build: ReturnType<typeof buildOf>, known: CheckContext = context) => {
  try {
    checkGeoOp(build, terms, known)
    return []
  } catch (error) {
    if (error instanceof TamperedOperationError) return error.differences.map(({ field }) => field)
    throw error
  }
}

test('the requested op is accepted, and its hash is computed locally', () => {
  expect(checkGeoOp(buildOf(honest), terms, context)).toBe(hashGeoOp(origin, honest))
})

test('an op with addresses in another case is accepted', () => {
  const { operation, ...build } = buildOf(honest)
  const wallet = honest.wallet.toLowerCase()
  const message = { ...operation.message, wallet, inputToken: honest.inputToken.toLowerCase() }

  expect(fieldsRefused({ ...build, operation: { ...operation, message } })).toEqual([])
})

test('an op may guarantee more than the quoted minimum', () => {
  expect(fieldsRefused(buildOf(withDelivery({ minOutput: terms.minOutput + 1n })))).toEqual([])
})

const now = BigInt(nowSeconds())
const tampered: [string, GeoOp][] = [
  ['wallet', { ...honest, wallet: addressOf('2') }],
  ['inputToken', { ...honest, inputToken: addressOf('2') }],
  ['inputAmount', { ...honest, inputAmount: honest.inputAmount + 1n }],
  ['delivery.index', { ...honest, index: honest.index + 1n }],
  ['delivery.index', withDelivery({ index: honest.index + 1n })],
  ['delivery.ring', { ...honest, locker: addressOf('2') }],
  ['delivery.ring', withDelivery({ ring: wordOf('2') })],
  ['delivery.destinationChain', withDelivery({ destinationChain: 1n })],
  ['delivery.vault', withDelivery({ vault: wordOf('2') })],
  ['delivery.outputToken', withDelivery({ outputToken: wordOf('2') })],
  ['delivery.minOutput', withDelivery({ minOutput: terms.minOutput - 1n })],
  ['delivery.recipient', withDelivery({ recipient: wordOf('2') })],
  ['opDeadline', { ...honest, opDeadline: honest.delivery.fillDeadline }],
  ['opDeadline', { ...honest, opDeadline: now - 301n }],
  ['refundDeadline', { ...honest, refundDeadline: honest.delivery.fillDeadline }],
  ['refundDeadline', { ...honest, refundDeadline: now + 90_000n }],
]

describe('an altered op is refused although its hash matches', () => {
  test.each(tampered)('%s', (field, op) => {
    expect(fieldsRefused(buildOf(op))).toContain(field)
  })

  test('the escrow', () => {
    const other = { ...origin, escrow: addressOf('2') }
    const ring = ringOf({ ...other, locker: honest.locker })

    expect(fieldsRefused(buildOf(withDelivery({ ring }), other))).toEqual(['domain.verifyingContract'])
  })

  test('the chain', () => {
    expect(fieldsRefused(buildOf(honest, { ...origin, chainId: 1 }))).toEqual(['domain.chainId', 'geoOpHash'])
  })

  test.each(['name', 'version'])('the %s of the domain', (field) => {
    const { operation, ...build } = buildOf(honest)
    const domain = { ...operation.domain, [field]: 'other' }

    expect(fieldsRefused({ ...build, operation: { ...operation, domain } })).toEqual([`domain.${field}`])
  })
})

test('a hash that is not the hash of the op is refused', () => {
  expect(fieldsRefused({ ...buildOf(honest), geoOpHash: wordOf('3') })).toEqual(['geoOpHash'])
})

test.each([undefined, null, 'op', 7, {}, { delivery: null }])('an op that is %j is refused', (message) => {
  const { operation, ...build } = buildOf(honest)
  const broken = { ...operation, message: message as never }

  expect(fieldsRefused({ ...build, operation: broken })).toHaveLength(1)
})

const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => getAddress(toHex(bytes)))
const word = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => toHex(bytes))
const uint = fc.bigInt({ min: 0n, max: (1n << 256n) - 1n })
const change = fc.oneof(
  fc.record({ field: fc.constantFrom('wallet', 'inputToken', 'locker'), value: address }),
  fc.record({
    field: fc.constantFrom('inputAmount', 'index', 'opDeadline', 'refundDeadline'),
    value: uint,
  }),
  fc.record({
    field: fc.constantFrom('delivery.ring', 'delivery.vault', 'delivery.outputToken', 'delivery.recipient'),
    value: fc.oneof(
      word,
      address.map((each) => pad(each, { size: 32 })),
    ),
  }),
  fc.record({
    field: fc.constantFrom(
      'delivery.index',
      'delivery.destinationChain',
      'delivery.fillDeadline',
      'delivery.minOutput',
    ),
    value: uint,
  }),
)
type Change = { field: string; value: bigint | Hex }

function applied({ field, value }: Change): GeoOp {
  const [first = '', second] = field.split('.')
  return second ? withDelivery({ [second]: value }) : { ...honest, [first]: value }
}

function valueAt(op: GeoOp, field: string): unknown {
  return field.split('.').reduce((node: unknown, part) => (node as Record<string, unknown>)[part], op)
}

test('any changed field is refused under the hash of the honest op', () => {
  const { geoOpHash } = buildOf(honest)
  fc.assert(
    fc.property(change, (each: Change) => {
      fc.pre(valueAt(honest, each.field) !== each.value)
      expect(fieldsRefused({ ...buildOf(applied(each)), geoOpHash })).toContain('geoOpHash')
    }),
  )
})

/** Changes that do not harm the caller: more output, and deadlines in order within a day. */
function isHarmless({ field, value }: Change): boolean {
  if (field === 'delivery.minOutput') return BigInt(value) >= terms.minOutput
  return field.endsWith('Deadline') && BigInt(value) < now + 100_000n
}

test('any changed field is refused, also with a matching hash', () => {
  fc.assert(
    fc.property(change, (each: Change) => {
      fc.pre(valueAt(honest, each.field) !== each.value && !isHarmless(each))
      expect(fieldsRefused(buildOf(applied(each)))).not.toEqual([])
    }),
  )
})
