import type { Heads, Refusal, Replacement, ReplacementOffers, Sent } from '../chains/chain.ts'
import type { AttemptSwap, Role } from '../store/attempts.ts'
import {
  claimableStates,
  deliverableStates,
  owedStates,
  paidStates,
  type SwapState,
} from '../swap/lifecycle.ts'

/*
 * The policy for transactions that are in no block yet: which of them to broadcast again, when to replace one, and by
 * what. Chains only price the replacements that their nodes accept.
 */

// Nodes of chains with nonces keep a transaction in their pool; those of Solana only pass it on.
export const rebroadcastMs = (hasNonces: boolean) => (hasNonces ? 4_000 : 2_000)
const REPLACE_AFTER_BLOCKS = 3n
// Some chains make four blocks a second, and a transaction may still be propagating to the block producers.
const REPLACE_AFTER_SECONDS = 3
// After this many fee bumps the fee is not the problem: a no-op consumes the nonce, and the work starts over.
const MAX_RAISES = 6

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

/** How to replace a stuck transaction: at any fee, within the quoted fee bound, or only by a no-op that cancels it. */
export type ReplacementPolicy = 'anyFee' | 'quotedFee' | 'cancel'

/** Policies by attempt id; undefined if the policy cannot be decided now. */
export type ReplacementPolicies = ReadonlyMap<string, ReplacementPolicy | undefined>

/**
 * Cancels a delivery that would pay any of its swaps wrongly; its other swaps are delivered again. A lock is cancelled
 * only if it is too late for all of its swaps. Keeps a transaction that others rely on, even at a higher price: a reorg
 * may have undone it.
 */
export function policyOf(
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

/** Does not broadcast unwanted bytes again: after a halt, a chain may still include bytes that were signed long ago. */
export function isBroadcastAgain(policy: ReplacementPolicy | undefined): boolean {
  return policy !== undefined && policy !== 'cancel'
}

export type Stuck<T extends Sent> = { attempt: T; isUnwanted: boolean; isRefused: boolean }

/**
 * Finds the oldest transaction, which may block all others, those that no node has, and unwanted ones, which a node may
 * still include. Does not count a refusal for lack of coins: the key is topped up.
 */
export function findStuck<T extends Sent>(
  unmined: readonly T[],
  policies: ReplacementPolicies,
  refusalOf: (attempt: T) => Refusal | undefined,
): Stuck<T>[] {
  const [oldest] = unmined
  return unmined
    .map((attempt) => {
      const refusal = refusalOf(attempt)
      const isUnwanted = policies.get(attempt.id) === 'cancel' || refusal === 'authority'
      return { attempt, isUnwanted, isRefused: refusal !== undefined && refusal !== 'unfunded' }
    })
    .filter(({ attempt, isUnwanted, isRefused }) => attempt === oldest || isUnwanted || isRefused)
}

/** Whether to replace a stuck transaction now. An unwanted or refused one does not wait. */
export function isDue(
  { attempt, isUnwanted, isRefused }: Stuck<Sent>,
  { head }: Pick<Heads, 'head'>,
  { isOutbid }: Pick<ReplacementOffers, 'isOutbid'>,
): boolean {
  // The offer is sufficient: either a block includes it soon, or nothing reaches the chain. Endless fee bumps would
  // only grow to the key's whole balance.
  if (attempt.replacement > MAX_RAISES && !isOutbid) return false
  const isEarly =
    head.number - attempt.sentAtBlock < REPLACE_AFTER_BLOCKS ||
    head.seconds - attempt.sentAtSeconds < REPLACE_AFTER_SECONDS
  return isUnwanted || isRefused || !isEarly
}

/**
 * The replacement of a transaction that is due: the same effect at a higher fee, or a no-op if there is none within the
 * policy. Later transactions may be more valuable, so the nonce does not wait for fees to fall.
 */
export function chooseReplacement(
  { replacement, isBurn }: Pick<Sent, 'replacement' | 'isBurn'>,
  policy: ReplacementPolicy,
  { bounded, unbounded, noop }: Omit<ReplacementOffers, 'isOutbid'>,
): Replacement {
  if (isBurn || policy === 'cancel' || replacement >= MAX_RAISES) return noop
  return (policy === 'anyFee' ? unbounded : bounded) ?? noop
}
