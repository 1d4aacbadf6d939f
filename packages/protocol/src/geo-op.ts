import { getAddressEncoder, isAddress } from '@solana/kit'
import {
  type Address,
  bytesToHex,
  concat,
  domainSeparator,
  encodeAbiParameters,
  getAddress,
  type Hex,
  keccak256,
  numberToHex,
  pad,
  stringToHex,
  type TypedDataDomain,
} from 'viem'

/**
 * The delivery due on the destination chain. It is nested in the GeoOp, and the vault hashes it again from
 * what it pays.
 */
export type Delivery = {
  ring: Hex
  index: bigint
  destinationChain: bigint
  /** Contracts, tokens and recipients are 32 bytes, so that a Solana key fits where an EVM address does. */
  vault: Hex
  outputToken: Hex
  minOutput: bigint
  recipient: Hex
  fillDeadline: bigint
}

/** The operation a wallet signs. Its EIP-712 digest is the op's id on every chain. */
export type GeoOp = {
  wallet: Address
  inputToken: Address
  inputAmount: bigint
  index: bigint
  opDeadline: bigint
  refundDeadline: bigint
  locker: Address
  delivery: Delivery
}

export const geoOpTypes = {
  GeoOp: [
    { name: 'wallet', type: 'address' },
    { name: 'inputToken', type: 'address' },
    { name: 'inputAmount', type: 'uint256' },
    { name: 'index', type: 'uint256' },
    { name: 'opDeadline', type: 'uint256' },
    { name: 'refundDeadline', type: 'uint256' },
    { name: 'locker', type: 'address' },
    { name: 'delivery', type: 'Delivery' },
  ],
  Delivery: [
    { name: 'ring', type: 'bytes32' },
    { name: 'index', type: 'uint256' },
    { name: 'destinationChain', type: 'uint256' },
    { name: 'vault', type: 'bytes32' },
    { name: 'outputToken', type: 'bytes32' },
    { name: 'minOutput', type: 'uint256' },
    { name: 'recipient', type: 'bytes32' },
    { name: 'fillDeadline', type: 'uint256' },
  ],
} as const

export type OriginEscrow = { chainId: number; escrow: Address }

export function geoOpDomain({ chainId, escrow }: OriginEscrow) {
  return {
    name: 'GeoEscrow',
    version: '1',
    chainId,
    verifyingContract: escrow,
  } as const satisfies TypedDataDomain
}

/** The 32 bytes the wallet signs: the op's EIP-712 digest. */
export function hashGeoOp(origin: OriginEscrow, op: GeoOp): Hex {
  return hashEscrowOp(origin, { ...op, delivery: hashDelivery(op.delivery) })
}

/** An op as the escrow receives it: with only the hash of its delivery. */
export type EscrowOp = Omit<GeoOp, 'delivery'> & { delivery: Hex }

/** The same id as `hashGeoOp`, for callers that know only the hash of the delivery. */
export function hashEscrowOp(origin: OriginEscrow, op: EscrowOp): Hex {
  return keccak256(concat(['0x1901', separatorOf(origin), hashFields('GeoOp', op)]))
}

const separators = new Map<string, Hex>()

function separatorOf(origin: OriginEscrow): Hex {
  const name = `${origin.chainId} ${origin.escrow}`
  const separator = separators.get(name) ?? domainSeparator({ domain: geoOpDomain(origin) })
  separators.set(name, separator)
  return separator
}

/** The id under which the vault reports a delivery. */
export function hashDelivery(delivery: Delivery): Hex {
  return hashFields('Delivery', delivery)
}

type TypeName = keyof typeof geoOpTypes

const encodeType = (name: TypeName) =>
  `${name}(${geoOpTypes[name].map((field) => `${field.type} ${field.name}`).join(',')})`
const typeHashes = {
  GeoOp: keccak256(stringToHex(`${encodeType('GeoOp')}${encodeType('Delivery')}`)),
  Delivery: keccak256(stringToHex(encodeType('Delivery'))),
}

/** `hashStruct` of EIP-712, without parsing the types for each: a worker hashes an op before each of its steps. */
function hashFields<Name extends TypeName>(name: Name, of: Name extends 'GeoOp' ? EscrowOp : Delivery): Hex {
  const fields: readonly { name: string; type: string }[] = geoOpTypes[name]
  const types = fields.map(({ type }) => ({ type: type === 'Delivery' ? 'bytes32' : type }))
  const values = fields.map((field) => (of as Record<string, unknown>)[field.name])
  return keccak256(encodeAbiParameters([{ type: 'bytes32' }, ...types], [typeHashes[name], ...values]))
}

/** Hashes one delivery with many minimums and deadlines, to search for the signed ones. */
export function createDeliveryHasher(delivery: Omit<Delivery, 'minOutput' | 'fillDeadline'>) {
  const word = (value: bigint) => numberToHex(value, { size: 32 })
  const { ring, index, destinationChain, vault, outputToken, recipient } = delivery
  const head = concat([typeHashes.Delivery, ring, word(index), word(destinationChain), vault, outputToken])
  return ({ minOutput, fillDeadline }: Pick<Delivery, 'minOutput' | 'fillDeadline'>): Hex =>
    keccak256(concat([head, word(minOutput), recipient, word(fillDeadline)]))
}

/** One ring of order slots per origin chain, escrow and locker: indices of different rings never collide. */
export function ringOf(origin: OriginEscrow & { locker: Address }): Hex {
  const types = [{ type: 'uint256' }, { type: 'address' }, { type: 'address' }] as const
  return keccak256(encodeAbiParameters(types, [BigInt(origin.chainId), origin.escrow, origin.locker]))
}

/** The ring of a Solana chain, whose escrow is a program. */
export function solanaRingOf(origin: { chainId: number; program: string }): Hex {
  const types = [{ type: 'uint256' }, { type: 'bytes32' }] as const
  return keccak256(encodeAbiParameters(types, [BigInt(origin.chainId), toBytes32(origin.program)]))
}

const POSITION_BITS = 32n

export function toIndex({ round, position }: { round: bigint; position: bigint }): bigint {
  return (round << POSITION_BITS) | position
}

export function fromIndex(index: bigint): { round: bigint; position: bigint } {
  return { round: index >> POSITION_BITS, position: index & ((1n << POSITION_BITS) - 1n) }
}

/** An EVM address padded on the left, or the 32 bytes of a Solana address. */
export function toBytes32(address: string): Hex {
  if (/^0x[0-9a-fA-F]{40}$/.test(address)) return pad(address as Address, { size: 32 })
  if (!isAddress(address)) throw new TypeError(`Neither an EVM nor a Solana address: ${address}`)
  return bytesToHex(Uint8Array.from(getAddressEncoder().encode(address)))
}

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
