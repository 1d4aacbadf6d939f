import type { Pool } from 'pg'
import type { Worth } from '../chains/chain.ts'
import type { SwapState } from '../model/lifecycle.ts'
import { type Attempt, type AttemptSwap, findSwapsOf, type Role } from '../store/attempts.ts'

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

/** Whether the input could still be claimed in time; undefined while the time of its chain is not known. */
export type IsClaimable = (swap: AttemptSwap) => boolean | undefined

/** By attempt; undefined where it cannot be told now. */
export type Worths = ReadonlyMap<string, Worth | undefined>

export async function readWorths(
  { pool, isClaimable }: { pool: Pool; isClaimable: IsClaimable },
  attempts: readonly Attempt[],
): Promise<Worths> {
  const ids = attempts.map(({ id }) => id)
  const swaps = ids.length > 0 ? await findSwapsOf(pool, ids) : new Map<string, AttemptSwap[]>()
  return new Map(attempts.map(({ id, role }) => [id, worthOf(role, swaps.get(id) ?? [], isClaimable)]))
}

/**
 * A delivery that would pay one of its swaps wrongly is worth nothing, however many it would pay rightly: those are
 * delivered anew. A lock that came too late for some locks the rest.
 */
function worthOf(role: Role, swaps: readonly AttemptSwap[], isClaimable: IsClaimable): Worth | undefined {
  const uses = swaps.map((swap) => isOfUse(role, swap, isClaimable))
  const isRefuted = role === 'deliver' ? uses.includes(false) : uses.length > 0 && !uses.includes(true)
  if (isRefuted) return 'nothing'
  if (uses.includes(undefined)) return undefined
  return swaps.some(({ state }) => OWED[role]?.includes(state)) ? 'owed' : 'quoted'
}

/** What was told is owed for good; any other delivery only while its input can be had for it. */
function isOfUse(role: Role, swap: AttemptSwap, isClaimable: IsClaimable): boolean | undefined {
  if (USEFUL[role]?.includes(swap.state) === false) return false
  const isOwed = OWED[role]?.includes(swap.state) === true
  return role !== 'deliver' || isOwed || isClaimable(swap)
}
