import type { Pool } from 'pg'
import type { ReplacementPolicy } from '../chains/chain.ts'
import {
  claimableStates,
  deliverableStates,
  owedStates,
  paidStates,
  type SwapState,
} from '../model/lifecycle.ts'
import { type Attempt, type AttemptSwap, findSwapsOf, type Role } from '../store/attempts.ts'

type States = Partial<Record<Role, readonly SwapState[]>>

/**
 * Swap states in which a transaction of this role is still wanted. The database refuses a delivery in any other state.
 */
const WANTED: States = {
  lock: claimableStates,
  deliver: [...deliverableStates, ...paidStates],
}

/**
 * Swap states in which others rely on the transaction: the output of a lock was signed for, or a delivery was reported.
 */
const RELIED_ON: States = {
  lock: owedStates,
  deliver: paidStates,
}

/** Whether the input can still be claimed in time; undefined while the time of its chain is unknown. */
export type IsClaimable = (swap: AttemptSwap) => boolean | undefined

/** Policies by attempt id; undefined if the policy cannot be decided now. */
export type ReplacementPolicies = ReadonlyMap<string, ReplacementPolicy | undefined>

export async function readReplacementPolicies(
  { pool, isClaimable }: { pool: Pool; isClaimable: IsClaimable },
  attempts: readonly Attempt[],
): Promise<ReplacementPolicies> {
  const ids = attempts.map(({ id }) => id)
  const swaps = ids.length > 0 ? await findSwapsOf(pool, ids) : new Map<string, AttemptSwap[]>()
  return new Map(attempts.map(({ id, role }) => [id, policyOf(role, swaps.get(id) ?? [], isClaimable)]))
}

/**
 * Cancels a delivery that would pay any of its swaps wrongly; its other swaps are delivered again. A lock is cancelled
 * only if it is too late for all of its swaps.
 */
function policyOf(
  role: Role,
  swaps: readonly AttemptSwap[],
  isClaimable: IsClaimable,
): ReplacementPolicy | undefined {
  const wanted = swaps.map((swap) => isWanted(role, swap, isClaimable))
  const isUnwanted = role === 'deliver' ? wanted.includes(false) : wanted.length > 0 && !wanted.includes(true)
  if (isUnwanted) return 'cancel'
  if (wanted.includes(undefined)) return undefined
  return swaps.some(({ state }) => RELIED_ON[role]?.includes(state)) ? 'anyFee' : 'quotedFee'
}

/** A reported delivery stays wanted. Any other is wanted only while its input can be claimed. */
function isWanted(role: Role, swap: AttemptSwap, isClaimable: IsClaimable): boolean | undefined {
  if (WANTED[role]?.includes(swap.state) === false) return false
  const isReliedOn = RELIED_ON[role]?.includes(swap.state) === true
  return role !== 'deliver' || isReliedOn || isClaimable(swap)
}
