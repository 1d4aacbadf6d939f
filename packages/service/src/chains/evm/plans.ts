import { type AttesterSignature, geoEscrowAbi, geoVaultAbi, joinSignatures, toIndex } from '@geoswap/protocol'
import {
  type Address,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  parseSignature,
  signatureToCompactSignature,
  zeroAddress,
} from 'viem'
import type { Op, SignedDelegation, Swap } from '../../swap/swap.ts'
import type { AttestedRefund, Transfer } from '../chain.ts'
import type { EvmChainSettings } from './settings.ts'

/** A transaction without nonce, fees and signature. */
export type EvmRequest = {
  to: string
  data: string
  gas: number
  /** In wei, as decimal text. */
  value?: string
  authorizations?: SignedDelegation[]
}

// Fixed gas limits: a wallet or token could manipulate an estimate. Unused gas is refunded, so each limit is the
// contract's own bound for the call (its caps and floors) plus its measured fixed part.
const LOCK = 420_000
const LOCK_MANY = { fixed: 400_000, each: 300_000 }
const LOCK_AT_ADDRESS = 600_000
const RECOVER = 500_000
const AUTHORIZATION = 25_000 // EIP-7702 PER_EMPTY_ACCOUNT_COST
const DELIVER = 300_000
const DELIVER_MANY = { fixed: 300_000, each: 200_000 }
export const CLAIM_MANY = { fixed: 400_000, each: 60_000 }
const REFUND = 450_000
const SIGNATURE = 15_000
// Rollups may charge L1 data as gas: a plain transfer needs more than 21,000 there.
const TRANSFER = { native: 100_000, token: 200_000 }

/** A no-op that only consumes its nonce. */
export const BURN: EvmRequest = { to: zeroAddress, data: '0x', gas: TRANSFER.native }

/** All swaps of one transaction come in by one method; permits and deposits one by one. */
export function planLock(settings: EvmChainSettings, swaps: readonly Swap[]): EvmRequest {
  const [first] = swaps
  const method = first?.op.method ?? 'delegation'
  if (!first || swaps.some(({ op }) => (op.method ?? 'delegation') !== method))
    throw new Error('No swaps of one method to lock')
  if (method === 'delegation') return planDelegated(settings, first, swaps)
  const { escrow } = settings
  if (method === 'authorization') return planAuthorized(escrow, first, swaps)
  if (swaps.length > 1) throw new Error(`Only one swap can be locked by ${method}`)
  const data = method === 'deposit' ? encodeDeposited(first) : encodePermitted(first)
  return { to: escrow, data, gas: LOCK_AT_ADDRESS }
}

function planAuthorized(escrow: string, first: Swap, swaps: readonly Swap[]): EvmRequest {
  if (swaps.length === 1) {
    const args = [toEscrowOp(first.op), first.signature as Hex] as const
    const data = encodeFunctionData({ abi: geoEscrowAbi, functionName: 'lockWithAuthorization', args })
    return { to: escrow, data, gas: LOCK }
  }
  const ops = swaps.map((swap) => ({ op: toEscrowOp(swap.op), signature: swap.signature as Hex }))
  const data = encodeFunctionData({
    abi: geoEscrowAbi,
    functionName: 'lockManyWithAuthorization',
    args: [ops],
  })
  return { to: escrow, data, gas: LOCK_MANY.fixed + LOCK_MANY.each * swaps.length }
}

function encodeDeposited({ op }: Swap): Hex {
  return encodeFunctionData({ abi: geoEscrowAbi, functionName: 'lockDeposited', args: [toEscrowOp(op)] })
}

function encodePermitted({ op, signature }: Swap): Hex {
  const { r, s, yParity } = parseSignature(signature as Hex)
  const args = [toEscrowOp(op), BigInt(op.opDeadline), 27 + yParity, r, s] as const
  return encodeFunctionData({ abi: geoEscrowAbi, functionName: 'lockPermitted', args })
}

export function planRecover({ escrow }: EvmChainSettings, op: Op, token: string): EvmRequest {
  const args = [op.locker as Address, toEscrowOp(op), token as Address] as const
  const data = encodeFunctionData({ abi: geoEscrowAbi, functionName: 'recover', args })
  return { to: escrow, data, gas: RECOVER }
}

function planDelegated({ escrow }: EvmChainSettings, first: Swap, swaps: readonly Swap[]): EvmRequest {
  const authorizations = swaps.flatMap((swap) => swap.delegation ?? [])
  const isSingle = swaps.length === 1
  return {
    to: escrow,
    data: isSingle ? encodeLock(first) : encodeLockMany(swaps),
    gas:
      (isSingle ? LOCK : LOCK_MANY.fixed + LOCK_MANY.each * swaps.length) +
      AUTHORIZATION * authorizations.length,
    ...(authorizations.length > 0 && { authorizations }),
  }
}

function encodeLock(swap: Swap): Hex {
  const { r, vs } = toCompact(swap.signature)
  return encodeFunctionData({ abi: geoEscrowAbi, functionName: 'lock', args: [toEscrowOp(swap.op), r, vs] })
}

function encodeLockMany(swaps: readonly Swap[]): Hex {
  const ops = swaps.map((swap) => ({ op: toEscrowOp(swap.op), ...toCompact(swap.signature) }))
  return encodeFunctionData({ abi: geoEscrowAbi, functionName: 'lockMany', args: [ops] })
}

export function planClaim(
  { escrow }: EvmChainSettings,
  swaps: readonly Swap[],
  signatures: readonly AttesterSignature[],
): EvmRequest {
  const ops = swaps.map((swap) => ({ locker: swap.op.locker as Address, op: toEscrowOp(swap.op) }))
  const args = [ops, joinSignatures(signatures)] as const
  return {
    to: escrow,
    data: encodeFunctionData({ abi: geoEscrowAbi, functionName: 'claimMany', args }),
    gas: CLAIM_MANY.fixed + CLAIM_MANY.each * swaps.length + SIGNATURE * signatures.length,
  }
}

export function planRefund(
  { escrow }: EvmChainSettings,
  swap: Swap,
  attested: AttestedRefund | undefined,
): EvmRequest {
  const of = [swap.op.locker as Address, toEscrowOp(swap.op)] as const
  if (!attested) {
    const data = encodeFunctionData({ abi: geoEscrowAbi, functionName: 'refund', args: of })
    return { to: escrow, data, gas: REFUND }
  }
  const { validUntil, signatures } = attested
  const args = [...of, BigInt(validUntil), joinSignatures(signatures)] as const
  return {
    to: escrow,
    data: encodeFunctionData({ abi: geoEscrowAbi, functionName: 'refundAttested', args }),
    gas: REFUND + SIGNATURE * signatures.length,
  }
}

export function planDelivery(settings: EvmChainSettings, ops: readonly Op[]): EvmRequest {
  const orders = ops.map((op) => toDeliveryOrder(settings, op))
  const [only] = orders
  if (!only) throw new Error('No op to deliver')
  const isSingle = orders.length === 1
  return {
    to: settings.vault,
    data: isSingle ? encodeDeliver(only) : encodeDeliverMany(orders),
    gas: isSingle ? DELIVER : DELIVER_MANY.fixed + DELIVER_MANY.each * orders.length,
  }
}

export function planTransfer({ to, token, amount }: Transfer): EvmRequest {
  if (token === zeroAddress) return { to, data: '0x', gas: TRANSFER.native, value: amount.toString() }
  const args = [to as Address, amount] as const
  return {
    to: token,
    data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args }),
    gas: TRANSFER.token,
  }
}

type DeliveryOrder = ReturnType<typeof toDeliveryOrder>

function encodeDeliver({ ring, token, fill }: DeliveryOrder): Hex {
  return encodeFunctionData({ abi: geoVaultAbi, functionName: 'deliver', args: [ring, token, fill] })
}

function encodeDeliverMany(orders: readonly DeliveryOrder[]): Hex {
  return encodeFunctionData({ abi: geoVaultAbi, functionName: 'deliverMany', args: [orders] })
}

export function toDeliveryOrder({ ringOf }: Pick<EvmChainSettings, 'ringOf'>, op: Op) {
  return { ring: ringOf(op), token: op.outputToken as Address, fill: toFill(op) }
}

function toFill(op: Op) {
  return {
    index: toIndex(op),
    amount: op.quotedOutput,
    minOutput: op.minOutput,
    recipient: op.recipient as Address,
    fillDeadline: BigInt(op.fillDeadline),
  }
}

function toEscrowOp(op: Op) {
  return {
    wallet: op.wallet as Address,
    inputToken: op.inputToken as Address,
    inputAmount: op.inputAmount,
    index: toIndex(op),
    opDeadline: BigInt(op.opDeadline),
    refundDeadline: BigInt(op.refundDeadline),
    delivery: op.deliveryHash as Hex,
  }
}

function toCompact(signature: string): { r: Hex; vs: Hex } {
  const { r, yParityAndS } = signatureToCompactSignature(parseSignature(signature as Hex))
  return { r, vs: yParityAndS }
}
