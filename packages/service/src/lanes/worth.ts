import type { Worth } from '../chains/chain.ts'
import type { SwapState } from '../model/lifecycle.ts'
import type { Role } from '../store/attempts.ts'

type States = Partial<Record<Role, readonly SwapState[]>>

/** Where what a transaction does is of use. The database refuses a delivery for any other state. */
const USEFUL: States = {
  lock: ['locking', 'locked', 'delivering', 'settled', 'claiming'],
  deliver: ['locked', 'delivering', 'settled', 'claiming'],
}

/** A lock whose output was signed for, or a delivery whose caller was told of it: others rely on it. */
const OWED: States = {
  lock: ['delivering', 'settled', 'claiming'],
  deliver: ['settled', 'claiming'],
}

/**
 * What a transaction is worth by the states of its swaps. A delivery that would pay one of them wrongly is worth
 * nothing, however many it would pay rightly: those are delivered anew. A lock that came too late for some locks the
 * rest.
 */
export function worthOf(role: Role, states: readonly SwapState[]): Worth {
  const isUseful = (state: SwapState) => USEFUL[role]?.includes(state) ?? true
  const isOfUse = role === 'deliver' ? states.every(isUseful) : states.length === 0 || states.some(isUseful)
  if (!isOfUse) return 'nothing'
  return states.some((state) => OWED[role]?.includes(state)) ? 'owed' : 'quoted'
}
