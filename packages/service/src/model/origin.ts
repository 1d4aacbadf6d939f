import type { SlotState } from '@geoswap/protocol'
import { acceptDepthOf, blockAtDepth, type Depths, type FinalityRules } from './finality.ts'
import type { Swap } from './swap.ts'

/** The chain's `Locked` event of an op; `seconds` is not before the time of its block. */
export type SeenLock = { block: bigint; seconds: number }

export type LockDecision =
  /** The lock counts: the output may be paid. */
  | 'lockSeen'
  /** Of a swap that was paid for: its lock is back after a reorg. */
  | 'lockFound'
  | 'nothing'

/**
 * Whether a lock counts: deep enough for its value, and early enough to be repeated after a reorg of the usual kind. A
 * lock too close to its deadline counts when it is final.
 */
export function decideLocked(
  { state, op }: Pick<Swap, 'state' | 'op'>,
  lock: SeenLock,
  { rules, at }: { rules: FinalityRules; at: Depths },
): LockDecision {
  if (state === 'accepted') return 'nothing'
  if (state !== 'locking') return 'lockFound'
  if (lock.block <= at.hard.number) return 'lockSeen'
  const mayBeRepeated = op.opDeadline - lock.seconds > rules.reorgWindowSeconds
  const isDeep = lock.block <= blockAtDepth(rules, acceptDepthOf(rules, op.valueCents), at)
  return isDeep && mayBeRepeated ? 'lockSeen' : 'nothing'
}

export type DeadLockDecision = 'declined' | 'lockDead' | 'inputLost' | 'rescan' | 'nothing'

/**
 * What follows for a swap without a lock, once a hard-final block past its time shows its slot. A slot that holds the
 * op without its event means that a log was missed. A paid swap is given up when its delivery is final: until then it
 * is owed.
 */
export function decideNeverLocked({ state, deliveryFinal }: Swap, hard: SlotState): DeadLockDecision {
  if (hard !== 'none') return 'rescan'
  // Its locker declines it sooner, unless its key is gone.
  if (state === 'accepted') return 'declined'
  if (state === 'locking') return 'lockDead'
  return state === 'settled' && deliveryFinal ? 'inputLost' : 'nothing'
}

export type FinalDecision = 'claimFinal' | 'refundFinal' | 'inputLost' | 'wait' | 'done'

/** What follows for a swap whose input left the escrow in a hard-final block. */
export function decideExit({ state, deliveryFinal }: Swap, exit: 'claimed' | 'refunded'): FinalDecision {
  if (state === 'closed' || state === 'refunded' || state === 'failed') return 'done'
  const isPaid = state === 'settled' || state === 'claiming'
  if (exit === 'claimed') return isPaid ? 'claimFinal' : 'wait'
  if (!isPaid) return state === 'accepted' || state === 'locking' ? 'wait' : 'refundFinal'
  // Its claim came too late: past the refund deadline anyone may send an input back.
  return deliveryFinal ? 'inputLost' : 'wait'
}
