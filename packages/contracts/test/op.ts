import {
  type Address,
  concat,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  hashStruct,
  hashTypedData,
  hexToBigInt,
  keccak256,
  type PrivateKeyAccount,
  pad,
  parseSignature,
  serializeCompactSignature,
  signatureToCompactSignature,
  sliceHex,
} from 'viem'
import { geoEscrowAbi } from '../../protocol/src/abi/geo-escrow.gen.ts'
import { geoVaultAbi } from '../../protocol/src/abi/geo-vault.gen.ts'
import * as evm from '../scripts/chain.ts'
import { attester, DAY, type World } from './world.ts'

export const opTypes = {
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

export type Signature = { r: Hex; vs: Hex }
export type Fill = {
  index: bigint
  amount: bigint
  minOutput: bigint
  recipient: Address
  fillDeadline: bigint
}
export type Op = {
  wallet: Address
  inputToken: Address
  inputAmount: bigint
  index: bigint
  opDeadline: bigint
  refundDeadline: bigint
  delivery: Hex
}
/** An op with its signer, locker and delivery. */
export type Swap = Signature & {
  op: Op
  locker: Address
  hash: Hex
  signer: PrivateKeyAccount
  ring: Hex
  outputToken: Address
  fill: Fill
}

export const indexOf = (round: number, position: number): bigint =>
  BigInt(round) * 2n ** 32n + BigInt(position)
export const domainOf = (world: World) =>
  ({ name: 'GeoEscrow', version: '1', chainId: world.chain.id, verifyingContract: world.escrow }) as const

export function ringOf(chainId: number, escrow: Address, locker: Address): Hex {
  const types = [{ type: 'uint256' }, { type: 'address' }, { type: 'address' }] as const
  return keccak256(encodeAbiParameters(types, [BigInt(chainId), escrow, locker]))
}

export type Terms = Partial<
  Pick<Op, 'inputToken' | 'inputAmount' | 'index' | 'opDeadline' | 'refundDeadline'> & {
    locker: Address
    signer: PrivateKeyAccount
    outputToken: Address
    recipient: Address
    amountOut: bigint
    minOutput: bigint
    fillDeadline: bigint
  }
>

/** Builds and signs an op: 100 units in, 90 out on the same chain, an hour to lock, a day to refund. */
export async function createSwap(world: World, wallet: PrivateKeyAccount, terms: Terms = {}): Promise<Swap> {
  const now = await evm.readTime(world.chain)
  const locker = terms.locker ?? world.locker
  const index = terms.index ?? indexOf(1, 0)
  const ring = ringOf(world.chain.id, world.escrow, locker)
  const outputToken = terms.outputToken ?? world.token
  const minOutput = terms.minOutput ?? 90n
  const fillDeadline = terms.fillDeadline ?? now + 7_200n
  const recipient = terms.recipient ?? `0x${'5e'.repeat(20)}`
  const fill = { index, amount: terms.amountOut ?? minOutput, minOutput, recipient, fillDeadline }
  const paid = {
    wallet: wallet.address,
    inputToken: terms.inputToken ?? world.token,
    inputAmount: terms.inputAmount ?? 100n,
    index,
    opDeadline: terms.opDeadline ?? now + 3_600n,
    refundDeadline: terms.refundDeadline ?? now + DAY,
  }
  const nested = toDelivery(world, ring, outputToken, fill)
  const message = { ...paid, locker, delivery: nested }
  const hash = hashTypedData({ domain: domainOf(world), types: opTypes, primaryType: 'GeoOp', message })
  const delivery = hashStruct({ data: nested, types: opTypes, primaryType: 'Delivery' })
  const signer = terms.signer ?? wallet
  const signature = toCompact(await signer.signMessage({ message: { raw: hash } }))
  return { op: { ...paid, delivery }, locker, hash, signer, ring, outputToken, fill, ...signature }
}

export function toDelivery(world: World, ring: Hex, outputToken: Address, fill: Fill) {
  return {
    ring,
    index: fill.index,
    destinationChain: BigInt(world.chain.id),
    vault: pad(world.vault),
    outputToken: pad(outputToken),
    minOutput: fill.minOutput,
    recipient: pad(fill.recipient),
    fillDeadline: fill.fillDeadline,
  }
}

export function toCompact(signature: Hex): Signature {
  const compact = serializeCompactSignature(signatureToCompactSignature(parseSignature(signature)))
  return { r: sliceHex(compact, 0, 32), vs: sliceHex(compact, 32, 64) }
}

type Options = { from?: Address; gas?: bigint }

export function lock(world: World, swap: Swap, options: Options = {}) {
  const data = encodeFunctionData({
    abi: geoEscrowAbi,
    functionName: 'lock',
    args: [swap.op, swap.r, swap.vs],
  })
  return evm.send(world.chain, { from: swap.locker, ...options, to: world.escrow, data })
}

export function lockMany(world: World, swaps: readonly Swap[], options: Options = {}) {
  const data = encodeFunctionData({ abi: geoEscrowAbi, functionName: 'lockMany', args: [swaps] })
  return evm.send(world.chain, { from: world.locker, ...options, to: world.escrow, data })
}

export type Signers = readonly PrivateKeyAccount[]

/** The attesters' signatures for a batch of deliveries, joined in the order of the signers. */
export async function attestClaims(
  world: World,
  ops: readonly Hex[],
  signers: Signers = [attester],
): Promise<Hex> {
  const types = { Claims: [{ name: 'ops', type: 'bytes32[]' }] } as const
  const message = { ops }
  const typed = { domain: domainOf(world), types, primaryType: 'Claims', message } as const
  return join(await Promise.all(signers.map((signer) => signer.signTypedData(typed))))
}

const join = (signatures: readonly Hex[]): Hex =>
  concat(['0x', ...signatures.map(toCompact).flatMap(({ r, vs }) => [r, vs])])

export async function claim(world: World, swap: Swap, options: Options & { signers?: Signers } = {}) {
  const { signers, ...rest } = options
  const signatures = await attestClaims(world, [swap.hash], signers)
  const data = encodeFunctionData({ abi: geoEscrowAbi, functionName: 'claim', args: [swap, signatures] })
  return evm.send(world.chain, { from: world.stranger, ...rest, to: world.escrow, data })
}

export async function claimMany(
  world: World,
  swaps: readonly Swap[],
  options: Options & { signers?: Signers } = {},
) {
  const { signers, ...rest } = options
  const hashes = swaps.map(({ hash }) => hash)
  const args = [swaps, await attestClaims(world, hashes, signers)] as const
  const data = encodeFunctionData({ abi: geoEscrowAbi, functionName: 'claimMany', args })
  return evm.send(world.chain, { from: world.stranger, ...rest, to: world.escrow, data })
}

export function refund(world: World, swap: Swap, options: Options = {}) {
  const data = encodeFunctionData({ abi: geoEscrowAbi, functionName: 'refund', args: [swap.locker, swap.op] })
  return evm.send(world.chain, { from: world.stranger, ...options, to: world.escrow, data })
}

/** The attesters' signatures that an op will not be delivered. */
export async function attestRefund(
  world: World,
  op: Hex,
  validUntil: bigint,
  signers: Signers = [attester],
): Promise<Hex> {
  const fields = [
    { name: 'op', type: 'bytes32' },
    { name: 'validUntil', type: 'uint256' },
  ] as const
  const types = { Refund: fields }
  const message = { op, validUntil }
  const typed = { domain: domainOf(world), types, primaryType: 'Refund', message } as const
  return join(await Promise.all(signers.map((signer) => signer.signTypedData(typed))))
}

export async function refundAttested(
  world: World,
  swap: Swap,
  options: Options & { signers?: Signers; validUntil?: bigint } = {},
) {
  const { signers, validUntil = 2n ** 40n, ...rest } = options
  const signatures = await attestRefund(world, swap.hash, validUntil, signers)
  const args = [swap.locker, swap.op, validUntil, signatures] as const
  const data = encodeFunctionData({ abi: geoEscrowAbi, functionName: 'refundAttested', args })
  return evm.send(world.chain, { from: world.stranger, ...rest, to: world.escrow, data })
}

export function deliver(world: World, swap: Swap, options: Options = {}) {
  const args = [swap.ring, swap.outputToken, swap.fill] as const
  const data = encodeFunctionData({ abi: geoVaultAbi, functionName: 'deliver', args })
  return evm.send(world.chain, { from: world.deliverer, ...options, to: world.vault, data })
}

export function deliverMany(world: World, swaps: readonly Swap[], options: Options = {}) {
  const orders = swaps.map(({ ring, outputToken, fill }) => ({ ring, token: outputToken, fill }))
  const data = encodeFunctionData({ abi: geoVaultAbi, functionName: 'deliverMany', args: [orders] })
  return evm.send(world.chain, { from: world.deliverer, ...options, to: world.vault, data })
}

const states = ['NONE', 'LOCKED', 'CLAIMED', 'REFUNDED'] as const

/** The state of this op by its position: NONE if the position holds another op. */
export async function readState(world: World, swap: Pick<Swap, 'op' | 'locker' | 'hash'>) {
  const word = await readSlot(world, swap.locker, swap.op.index & 0xffffffffn)
  const isThis = word.hash === (hexToBigInt(swap.hash) & (2n ** 222n - 1n))
  return isThis && word.round === swap.op.index >> 32n ? word.state : 'NONE'
}

export async function readSlot(world: World, locker: Address, position: bigint) {
  const data = encodeFunctionData({ abi: geoEscrowAbi, functionName: 'slot', args: [locker, position] })
  const word = hexToBigInt(await evm.read(world.chain, { to: world.escrow, data }))
  const state = states[Number((word >> 222n) & 3n)]
  return { word, round: word >> 224n, state, hash: word & (2n ** 222n - 1n) }
}
