import type { Rules } from './rules.ts'
import {
  findRoom,
  isDead,
  isFinal,
  isLive,
  isOnChain,
  isPast,
  knownOf,
  type ModelState,
  replaceAt,
  type Step,
  shownOf,
  signed,
} from './state.ts'
import { move, overAt } from './worker.ts'

/** Steps of the attester that signs, and of the relayer that sends. */
export function settlingSteps(state: ModelState, rules: Rules): Step[] {
  return [
    ...attestClaim(state, rules),
    ...recordClaim(state, rules),
    ...attestRefund(state, rules),
    ...releaseRefund(state, rules),
    ...recordRefund(state, rules),
  ]
}

function attestClaim(state: ModelState, rules: Rules): Step[] {
  const isAsked = state.swap === 'settled' && state.originFinal && state.deliveryFinal
  const isSeen = isFinal(state.lock) && shownOf(state).some(isFinal)
  if (state.attested !== 'none' || !(rules.attesterReads ? isAsked && isSeen : state.swap === 'settled'))
    return []
  return [{ name: 'attester: sign claim', to: { ...state, attested: 'claim' } }]
}

function recordClaim(state: ModelState, rules: Rules): Step[] {
  const isFree = state.claim.place === 'unsigned' || isDead(state.claim)
  if (state.attested !== 'claim' || !isFree) return []
  const patch = { claim: signed('log') }
  return move(state, rules, { name: 'record claim', event: 'claimRecorded', patch })
}

const refunding = ['refundDecided', 'refunding', 'refundBlocked']

/** At most one signed refund is unsent, unless several found none at the same moment. */
function attestRefund(state: ModelState, rules: Rules): Step[] {
  const isAsked = ['refundDecided', 'refundBlocked'].includes(state.swap) && state.originFinal
  const isLocked = isFinal(state.lock) && ![state.claim, ...state.refunds].some(isFinal)
  const isReady =
    isAsked && isLocked && state.strangerRefund !== 'final' && state.unsentRefunds < rules.refundsAtOnce
  const isObjected = rules.attesterReads && hasObjection(state, rules)
  if (!isReady || isObjected || state.attested === 'claim') return []
  const attested = 'refund'
  return [
    { name: 'attester: sign refund', to: { ...state, attested, unsentRefunds: state.unsentRefunds + 1 } },
  ]
}

/** Whether the vault shows a delivery, or a recorded one may still land. */
function hasObjection(state: ModelState, rules: Rules): boolean {
  if (rules.hasDeliveryGuard && shownOf(state).some(isFinal)) return true
  const isOver = isPast(state, overAt(rules))
  return !isOver && knownOf(state.deliveries).some((each) => isLive(each) || isOnChain(each))
}

/** A refund may be sent again once every attempt was consumed without effect. */
function releaseRefund(state: ModelState, rules: Rules): Step[] {
  const isStalled = knownOf(state.refunds).every(isDead) || !rules.signsAgainAfterDeath
  if (state.swap !== 'refunding' || state.unsentRefunds > 0 || !isStalled) return []
  return [{ name: 'service: release refund', to: { ...state, unsentRefunds: 1 } }]
}

/** After the refund deadline no attester is needed. */
function recordRefund(state: ModelState, rules: Rules): Step[] {
  const room = findRoom(state.refunds)
  const isPublic = isPast(state, 'refundOpen') && knownOf(state.refunds).every(isDead)
  const isAllowed = state.unsentRefunds > 0 || isPublic
  if (!refunding.includes(state.swap) || !isAllowed || room < 0) return []
  if (!state.walletTakes) {
    return move(state, rules, { name: 'find refund refused', event: 'refundRefused' })
  }
  const refunds = replaceAt(state.refunds, room, signed('log'))
  const patch = { refunds, unsentRefunds: Math.max(state.unsentRefunds - 1, 0) }
  return move(state, rules, { name: 'record refund', event: 'refundRecorded', patch })
}
