import type { Delivered, DestinationChain, Heads } from '../../chains/chain.ts'
import { failPoint } from '../../fail-point.ts'
import { attempt, throwFirst } from '../../model/attempt.ts'
import type { Swap } from '../../model/swap.ts'
import type { Lease } from '../../store/lanes.ts'
import {
  advanceSwap,
  findOpenByDestination,
  markDeliveryFinal,
  setDeliveryTxHash,
} from '../../store/swaps.ts'
import { type DecideRefundDeps, decideRefund } from './decide-refund.ts'

export type ConfirmDeliveryDeps = DecideRefundDeps & {
  destination: DestinationChain
  /** How long a block of this chain can be undone. */
  reorgSeconds: number
  onSettled(swap: Swap): void
}

// On top of the destination's finality: time to deliver again if a reorg undoes a delivery that was told.
const REDELIVERY_SECONDS = 60

/** Moves every swap that is being delivered on this chain on by what the vault said and shows. */
export async function confirmDestination(
  deps: ConfirmDeliveryDeps,
  lease: Lease,
  heads: Heads,
): Promise<void> {
  const open = await findOpenByDestination(deps.pool, deps.destination.chainId)
  const faults: unknown[] = []
  await expectForgotten(deps, open, faults)
  const swaps = open.filter((swap) => swap.state !== 'locked')
  const deliveries = await deps.destination.findDeliveries(
    swaps.map(({ op }) => op),
    heads,
    faults,
  )
  const silent: Swap[] = []
  for (const swap of swaps) {
    const delivered = deliveries.get(swap.op.hash)
    const isOver = deps.destination.isDeliveryOver(swap.op, heads.hard)
    if (delivered && delivered.amount >= swap.op.minOutput)
      await attempt(faults, () => confirm(deps, heads, swap, delivered))
    else if (swap.state === 'delivering' && isOver) silent.push(swap)
  }
  await refundExpired(deps, lease, heads, silent, faults)
  throwFirst(faults)
}

/** A delivery may have been signed that the log does not have: it is waited for as if it were there. */
async function expectForgotten({ pool }: ConfirmDeliveryDeps, open: readonly Swap[], faults: unknown[]) {
  for (const swap of open) {
    if (swap.state === 'locked' && swap.op.isLogLost)
      await attempt(faults, () => advanceSwap(pool, { swap, event: 'deliveryRecorded' }))
  }
}

async function confirm(
  deps: ConfirmDeliveryDeps,
  heads: Heads,
  swap: Swap,
  delivered: Delivered,
): Promise<void> {
  const deliveryTxHash = delivered.txHash
  const isFinal = delivered.block <= heads.hard.number
  if (swap.state === 'delivering') {
    const mayBeRepeated = swap.op.fillDeadline - heads.settle.seconds > deps.reorgSeconds + REDELIVERY_SECONDS
    const isSettled = isFinal || (delivered.block <= heads.settle.number && mayBeRepeated)
    if (!isSettled) return
    failPoint('before deliverySeen')
    const moved = await advanceSwap(deps.pool, {
      swap,
      event: 'deliverySeen',
      deliveryTxHash,
      delivered: delivered.amount,
    })
    failPoint('after deliverySeen')
    if (moved) deps.onSettled(moved)
    return
  }
  if (isFinal) await noteFinal(deps, swap, deliveryTxHash)
  else if (swap.deliveryTxHash !== deliveryTxHash) await setDeliveryTxHash(deps.pool, [swap], deliveryTxHash)
}

async function noteFinal({ pool }: ConfirmDeliveryDeps, { id }: Swap, deliveryTxHash: string): Promise<void> {
  failPoint('before deliveryFinal')
  await markDeliveryFinal(pool, { id, deliveryTxHash })
  failPoint('after deliveryFinal')
}

/** A hard-final block past the op's time in which the chain shows no delivery: there will never be one. */
async function refundExpired(
  deps: ConfirmDeliveryDeps,
  lease: Lease,
  heads: Heads,
  swaps: readonly Swap[],
  faults: unknown[],
): Promise<void> {
  if (swaps.length === 0) return
  const undelivered = await deps.destination.readUndelivered(
    swaps.map(({ op }) => op),
    heads.hard,
    faults,
  )
  const proof = { kind: 'notDeliveredPastDeadline', chainId: deps.destination.chainId, block: heads.hard }
  for (const swap of swaps) {
    if (undelivered.has(swap.op.hash))
      await attempt(faults, () =>
        decideRefund(deps, lease, swap, { refundReason: 'DELIVERY_EXPIRED', proof }),
      )
  }
}
