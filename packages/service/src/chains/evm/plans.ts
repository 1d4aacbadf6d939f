import { type AttesterSignature, geoEscrowAbi, geoVaultAbi, joinSignatures, toIndex } from '@geoswap/protocol'
import { type Address, encodeFunctionData, erc20Abi, type Hex, zeroAddress } from 'viem'
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
export const LOCK = 420_000
export const LOCK_MANY = { fixed: 400_000, each: 300_000 }
export const LOCK_AT_ADDRESS = 600_000
const RECOVER = 500_000
export const DELEGATION = 25_000 // EIP-7702 PER_EMPTY_ACCOUNT_COST
const DELIVER = 300_000
const DELIVER_MANY = { fixed: 300_000, each: 200_000 }
export const CLAIM_MANY = { fixed: 400_000, each: 60_000 }
const REFUND = 450_000
const SIGNATURE = 15_000
// Rollups may charge L1 data as gas: a plain transfer needs more than 21,000 there.
const TRANSFER = { native: 100_000, token: 200_000 }

/** A no-op that only consumes its nonce. */
export const BURN: EvmRequest = { to: zeroAddress, data: '0x', gas: TRANSFER.native }

export function planRecover({ escrow }: EvmChainSettings, op: Op, token: string): EvmRequest {
  const args = [op.locker as Address, toEscrowOp(op), token as Address] as const
  const data = encodeFunctionData({ abi: geoEscrowAbi, functionName: 'recover', args })
  return { to: escrow, data, gas: RECOVER }
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

export function toEscrowOp(op: Op) {
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
