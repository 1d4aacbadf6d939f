import type { Delivered, Landed, Refunded } from '../chains/chain.ts'
import type { SwapChange } from '../model/change.ts'
import type { Swap } from '../model/swap.ts'

/** The chain facts about one swap. */
export type Shown = { locked?: Landed; claimed?: Landed; refunded?: Refunded; delivered?: Delivered }

/**
 * The next transition that the chains require; undefined if none. Missing facts decide nothing: the worker waits for
 * the deadline. An accepted swap may have been locked by an unrecorded transaction.
 */
export function nextStep(
  { state, refundReason = 'DELIVERY_EXPIRED' }: Pick<Swap, 'state' | 'refundReason'>,
  { locked, claimed, refunded, delivered }: Shown,
): SwapChange | undefined {
  const delivery = delivered && { deliveryTxHash: delivered.txHash }
  const refund: SwapChange | undefined = refunded && {
    event: 'refundFinal',
    refundReason,
    refundTxHash: refunded.txHash,
    credited: refunded.credited,
  }
  switch (state) {
    case 'accepted':
      return { event: 'lockRecorded' }
    case 'locking':
      return locked && { event: 'lockSeen', originTxHash: locked.txHash, lockedBlock: locked.block }
    case 'locked':
      return delivery ? { event: 'deliveryRecorded', ...delivery } : refund
    case 'delivering':
      return delivery ? { event: 'deliverySeen', ...delivery, delivered: delivered.amount } : refund
    case 'settled':
    case 'claiming':
      return claimed && { event: 'claimFinal' }
    case 'refundDecided':
    case 'refunding':
    case 'refundBlocked':
      return refund
    default:
      return undefined
  }
}
