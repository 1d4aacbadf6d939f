import type { Rules } from './rules.ts'
import {
  type Attempt,
  clocks,
  forgetDead,
  isDeposited,
  isFinal,
  isLive,
  isOnChain,
  isPaidOut,
  isPast,
  type ModelState,
  replaceAt,
  type Step,
} from './state.ts'

/** The possible next steps of the environment: time, blocks, reorgs, strangers, the wallet, a crash. */
export function worldSteps(state: ModelState, rules: Rules): Step[] {
  return [
    ...tick(state, rules),
    ...moveDeposit(state, rules),
    ...moveLock(state, rules),
    ...moveDeliveries(state, rules),
    ...moveClaim(state, rules),
    ...moveRefunds(state, rules),
    ...moveStrangers(state, rules),
    ...crash(state),
  ]
}

function tick(state: ModelState, rules: Rules): Step[] {
  const clock = clocks[clocks.indexOf(state.clock) + 1]
  if (!clock || mustWait(state, rules, clock)) return []
  // A lease is shorter than the time from cut-off to deadline: a plan from before the cut-off cannot be signed after
  // the deadline.
  const intent = clock === 'fillPast' ? 'none' : state.intent
  return [{ name: `time: ${clock}`, to: { ...state, clock, intent } }]
}

/** Steps that happen before time advances; `refundMargin` and the rule of soft settling ensure it. */
function mustWait(state: ModelState, rules: Rules, next: ModelState['clock']): boolean {
  if (next === 'refundOpen') return isMarginOpen(state, rules)
  if (next === 'fillLate' && rules.fillAwaitsLockFinality && state.lock.place === 'included') return true
  if (state.reported !== 'repeating') return false
  const isInFlight = state.deliveries.some(isLive)
  // A service that signs again has time to.
  const isRepeated = rules.undoneBytesLandAgain && rules.redeliversSettled
  if (next === 'cutOff') return isRepeated && !isInFlight
  return next === 'fillPast' && (isRepeated || isInFlight)
}

function isMarginOpen({ swap, lock, deliveries, claim }: ModelState, { refundMargin }: Rules): boolean {
  // Only a service that goes on to claim uses this time.
  const willClaim = ['locked', 'delivering', 'settled', 'claiming'].includes(swap) && isFinal(lock)
  const isPaid = willClaim && deliveries.some(isOnChain)
  switch (refundMargin) {
    case 'full':
      return isPaid && !isFinal(claim)
    case 'claimIncluded':
      return isPaid && !isOnChain(claim)
    case 'none':
      return false
  }
}

/** The possible steps of one attempt on any chain: it is included, undone by a reorg, final or dead. */
function attemptSteps(name: string, attempt: Attempt, can: { land: boolean; die: boolean; undo: boolean }) {
  const { place } = attempt
  const ways: { name: string; changed: Partial<Attempt> }[] = []
  const add = (what: string, changed: Partial<Attempt>) =>
    ways.push({ name: `chain: ${name} ${what}`, changed })
  if (place === 'flight' && can.land) add('included', { place: 'included' })
  if ((place === 'flight' || place === 'signed') && can.die) add('dead', { place: 'dead' })
  if (place === 'included') add('final', { place: 'final' })
  if (place === 'included' && can.undo) add('undone', { place: 'flight' })
  return ways
}

/** Paid once, at any time or never. A reorg undoes it only with everything that used it. */
function moveDeposit(state: ModelState, { input }: Rules): Step[] {
  const to = (deposit: ModelState['deposit']) => ({ ...state, deposit })
  if (input === 'signed') return []
  if (state.deposit === 'none') return [{ name: 'payer: deposit', to: to('included') }]
  const byStranger = recover(state, 'stranger')
  if (state.deposit !== 'included') return byStranger
  const undone = { name: 'chain: deposit undone', to: to('none') }
  const final = { name: 'chain: deposit final', to: to('final') }
  return [final, ...(isOnChain(state.lock) ? [] : [undone]), ...byStranger]
}

/** After the deadline of the op, all that lies at its address goes to the wallet, whoever asks for it. */
export function recover(state: ModelState, by: string): Step[] {
  const isDue = isPast(state, 'opOver') && isDeposited(state)
  return isDue ? [{ name: `${by}: recover`, to: { ...state, deposit: 'returned' } }] : []
}

function moveLock(state: ModelState, { input }: Rules): Step[] {
  const isPaid = input === 'signed' || isDeposited(state)
  // The escrow takes a deposit in one transaction: it is final no later than what it took.
  const can = { land: !isPast(state, 'opOver') && isPaid, die: true, undo: !isPaidOut(state) }
  return attemptSteps('lock', state.lock, can).map(({ name, changed }) => ({
    name,
    to: { ...state, lock: { ...state.lock, ...changed }, ...(changed.place === 'final' && settled(state)) },
  }))
}

const settled = ({ deposit }: ModelState) => (deposit === 'none' ? {} : { deposit: 'final' as const })

function moveDeliveries(state: ModelState, rules: Rules): Step[] {
  return state.deliveries.flatMap((attempt, index) => {
    const others = state.deliveries.filter((_, i) => i !== index)
    const can = {
      land: canDeliver(state, rules, others),
      die: state.reported !== 'repeating' || !rules.undoneBytesLandAgain || !isPast(state, 'fillLate'),
      undo: canUndoDelivery(state, rules),
    }
    return attemptSteps('delivery', attempt, can).map(({ name, changed }) => ({
      name,
      to: {
        ...state,
        deliveries: replaceAt(state.deliveries, index, changed),
        reported: reportedAfter(state, changed.place),
      },
    }))
  })
}

function canDeliver(state: ModelState, rules: Rules, others: readonly Attempt[]): boolean {
  if (rules.refusesLate && isPast(state, 'fillOver')) return false
  return !rules.hasDeliveryGuard || !others.some(isOnChain)
}

/** A delivery reported in time is final before the cut-off. */
function canUndoDelivery(state: ModelState, rules: Rules): boolean {
  if (state.reported === 'safe') return !isPast(state, 'cutOff')
  return state.reported !== 'repeated' || rules.reorgsAfterSettled > 1
}

function reportedAfter(
  { reported }: ModelState,
  place: Attempt['place'] | undefined,
): ModelState['reported'] {
  if (reported === 'safe' && place === 'flight') return 'repeating'
  return reported === 'repeating' && place === 'included' ? 'repeated' : reported
}

function moveClaim(state: ModelState, rules: Rules): Step[] {
  const can = { land: canPayOut(state, rules), die: true, undo: true }
  return attemptSteps('claim', state.claim, can).map(({ name, changed }) => ({
    name,
    to: { ...state, claim: { ...state.claim, ...changed } },
  }))
}

function moveRefunds(state: ModelState, rules: Rules): Step[] {
  return state.refunds.flatMap((attempt, index) => {
    const can = { land: canPayOut(state, rules) && state.walletTakes, die: true, undo: true }
    return attemptSteps('refund', attempt, can).map(({ name, changed }) => ({
      name,
      to: { ...state, refunds: replaceAt(state.refunds, index, changed) },
    }))
  })
}

/** Whether the input is in the escrow. Several transactions may try to take it. */
const canPayOut = (state: ModelState, { paysOutOnce }: Rules): boolean =>
  isOnChain(state.lock) && !(paysOutOnce && isPaidOut(state))

function moveStrangers(state: ModelState, rules: Rules): Step[] {
  return [
    ...refundByStranger(state, rules),
    ...(rules.origin === 'solana' ? changeWallet(state) : []),
    ...(rules.destination === 'solana' ? sweep(state, rules) : []),
  ]
}

/** Before a refund is decided, the wallet's ability to receive does not matter. */
function changeWallet(state: ModelState): Step[] {
  const isAsked = ['refundDecided', 'refunding', 'refundBlocked'].includes(state.swap)
  const walletTakes = !state.walletTakes
  const name = `wallet: ${walletTakes ? 'takes' : 'refuses'} money`
  return isAsked ? [{ name, to: { ...state, walletTakes } }] : []
}

/** Also to a wallet that closed its account: whoever refunds may open it, or name another one. */
function refundByStranger(state: ModelState, rules: Rules): Step[] {
  const to = (strangerRefund: ModelState['strangerRefund']) => ({ ...state, strangerRefund })
  if (state.strangerRefund === 'included') {
    return [
      { name: 'chain: stranger’s refund final', to: to('final') },
      { name: 'chain: stranger’s refund undone', to: to('none') },
    ]
  }
  const isHeld = isFinal(state.lock) && canPayOut(state, rules)
  const isDue = isPast(state, 'refundOpen') || !rules.strangersWait
  const isOpen = state.strangerRefund === 'none' && isHeld && isDue
  return isOpen ? [{ name: 'stranger: refund', to: to('included') }] : []
}

/** Closes the marker of a delivery, whose rent goes to its payer, whoever asks for it. */
function sweep(state: ModelState, rules: Rules): Step[] {
  const isMarked = !state.isSwept && state.deliveries.some(isFinal)
  const isDue = isMarked && isPast(state, 'fillOver') && isSweepOpen(state, rules)
  return isDue ? [{ name: 'stranger: sweep marker', to: { ...state, isSwept: true } }] : []
}

function isSweepOpen(state: ModelState, { sweepAwaits }: Rules): boolean {
  const isNoted = state.deliveryFinal || !['settled', 'claiming'].includes(state.swap)
  if (sweepAwaits === 'nothing') return true
  return isPast(state, 'refundOpen') && (isNoted || sweepAwaits === 'refundDeadline')
}

/** All processes die at once: only the database and the chains remain. */
function crash(state: ModelState): Step[] {
  const forget = (attempt: Attempt): Attempt =>
    attempt.keeper === 'memory' ? forgetDead({ ...attempt, keeper: 'nobody' }) : attempt
  const deliveries = state.deliveries.map(forget)
  const isSame = state.intent === 'none' && deliveries.every((each, i) => each === state.deliveries[i])
  return isSame ? [] : [{ name: 'crash', to: { ...state, deliveries, intent: 'none' } }]
}
