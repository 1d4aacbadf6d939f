import type { SlotState } from '@geoswap/protocol'
import { blockAtDepth, type Depths, type FinalityRules, lockDepthOf } from './finality.ts'
import { isOpen, isPaid, isUnlocked } from './lifecycle.ts'
import type { Swap } from './swap.ts'

/** The `Locked` event of an op. `seconds` is at or after the time of its block. */
type SeenLock = { block: bigint; seconds: number }

type LockDecision =
  /** The lock counts: the output may be delivered. */
  | 'lockSeen'
  /** The lock of a delivered swap is back after a reorg. */
  | 'lockFound'
  /** It counts once it is final. */
  | 'late'
  | 'nothing'

/**
 * Whether a lock counts. It has to be deep enough for its value and early enough to be repeated after a common reorg. A
 * lock too close to its deadline counts once final.
 */
export function decideLocked(
  { state, op }: Pick<Swap, 'state' | 'op'>,
  lock: SeenLock,
  { rules, at }: { rules: FinalityRules; at: Depths },
): LockDecision {
  if (state === 'accepted' || state === 'awaitingDeposit') return 'nothing'
  if (state !== 'locking') return 'lockFound'
  if (lock.block <= at.hard.number) return 'lockSeen'
  const mayBeRepeated = op.opDeadline - lock.seconds > rules.reorgWindowSeconds
  if (!mayBeRepeated) return 'late'
  const isDeep = lock.block <= blockAtDepth(rules, lockDepthOf(rules, op), at)
  return isDeep ? 'lockSeen' : 'nothing'
}

type DeadLockDecision = 'declined' | 'lockDead' | 'inputLost' | 'rescan' | 'nothing'

/**
 * Decides about a swap without a lock, once a hard-final block past its deadline shows its slot. A slot that holds the
 * op without a `Locked` event means a missed log. A delivered swap is given up only once its delivery is final.
 */
export function decideNeverLocked({ state, deliveryFinal }: Swap, hard: SlotState): DeadLockDecision {
  if (hard !== 'none') return 'rescan'
  // Its locker normally declines it earlier, unless its key is gone.
  if (state === 'accepted' || state === 'awaitingDeposit') return 'declined'
  if (state === 'locking') return 'lockDead'
  return state === 'settled' && deliveryFinal ? 'inputLost' : 'nothing'
}

type FinalDecision = 'claimFinal' | 'refundFinal' | 'inputLost' | 'wait' | 'done'

/** Decides about a swap whose input left the escrow in a hard-final block. */
export function decideExit({ state, deliveryFinal }: Swap, exit: 'claimed' | 'refunded'): FinalDecision {
  if (!isOpen(state)) return 'done'
  if (exit === 'claimed') return isPaid(state) ? 'claimFinal' : 'wait'
  if (!isPaid(state)) return isUnlocked(state) ? 'wait' : 'refundFinal'
  // The claim came too late: after the refund deadline anyone may refund an input.
  return deliveryFinal ? 'inputLost' : 'wait'
}
