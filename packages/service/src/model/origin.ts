import type { SlotState } from '@geoswap/protocol'
import type { Swap } from './swap.ts'

/**
 * What the origin chain shows of one op, at the depth that counts for delivery and at the one that is final.
 * `isOver`: what is not locked at the final one never will be.
 */
export type OriginView = { soft: SlotState; hard: SlotState; softSeconds: number; isOver: boolean }

export type OriginDecision =
  | 'lockSeen'
  | 'lockLost'
  | 'lockDead'
  | 'declined'
  | 'claimFinal'
  | 'refundFinal'
  | 'lockFinal'
  | 'inputLost'
  | 'nothing'

/**
 * What follows from the escrow's word. `reorgSeconds` is how long a block can still be undone: a lock that
 * close to its deadline counts only when it is final, since after a reorg it could not be repeated.
 */
export function decideOrigin(swap: Swap, view: OriginView, reorgSeconds: number): OriginDecision {
  // Its locker declines it sooner, unless its key is gone.
  if (swap.state === 'accepted') return view.hard === 'none' && view.isOver ? 'declined' : 'nothing'
  if (swap.state === 'locking') return decideLocking(swap, view, reorgSeconds)
  if (swap.state === 'locked' && view.soft === 'none') return 'lockLost'
  if (isRefundable(swap) && view.hard === 'refunded') return 'refundFinal'
  if ((swap.state === 'settled' || swap.state === 'claiming') && view.hard === 'claimed') return 'claimFinal'
  if (!swap.originFinal && view.hard !== 'none') return 'lockFinal'
  return isInputLost(swap, view) ? 'inputLost' : 'nothing'
}

/** While its delivery can be undone, it is owed: only then is there nothing left to do. */
function isInputLost({ state, originFinal, deliveryFinal }: Swap, { hard, isOver }: OriginView): boolean {
  if (!deliveryFinal) return false
  // Its claim came too late: past the refund deadline anyone may send an input back.
  if (hard === 'refunded') return state === 'settled' || state === 'claiming'
  return state === 'settled' && !originFinal && hard === 'none' && isOver
}

function decideLocking(swap: Swap, view: OriginView, reorgSeconds: number): OriginDecision {
  const mayBeRepeated = swap.op.opDeadline - view.softSeconds > reorgSeconds
  if (view.hard !== 'none' || (view.soft !== 'none' && mayBeRepeated)) return 'lockSeen'
  const isDead = view.soft === 'none' && view.isOver
  return isDead ? 'lockDead' : 'nothing'
}

function isRefundable({ state }: Swap): boolean {
  return state !== 'settled' && state !== 'claiming'
}
