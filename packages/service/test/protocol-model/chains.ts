import type { Rules } from './rules.ts'
import {
  type Attempt,
  clocks,
  forgetDead,
  isDeposited,
  isFinal,
  isLive,
  isOnChain,
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
  // Only a contract knows the last deadline.
  if (clock === 'refundOpen' && rules.origin !== 'evm') return []
  // A lease is shorter than the time from cut-off to deadline: a plan from before the cut-off cannot be signed after
  // the deadline.
  const intent = clock === 'fillOver' ? 'none' : state.intent
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
  return next === 'fillOver' && (isRepeated || isInFlight)
}

function isMarginOpen({ swap, lock, deliveries, claim }: ModelState, { refundMargin }: Rules): boolean {
  const mayLand = deliveries.some((each) => isLive(each) || each.place === 'included')
  // Only a service that goes on to claim uses this time.
  const willClaim = ['locked', 'delivering', 'settled', 'claiming'].includes(swap) && isFinal(lock)
  const isPaid = willClaim && deliveries.some(isOnChain)
  switch (refundMargin) {
    case 'full':
      return mayLand || (isPaid && !isFinal(claim))
    case 'claimIncluded':
      return mayLand || (isPaid && !isOnChain(claim))
    case 'withoutAttemptLife':
      return isPaid && !isFinal(claim)
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
  const isUsed = [state.claim, ...state.refunds].some(isOnChain) || state.strangerRefund !== 'none'
  const isPaid = input === 'signed' || isDeposited(state)
  // The escrow takes a deposit in one transaction: it is final no later than what it took.
  const can = { land: !isPast(state, 'opOver') && isPaid, die: true, undo: !isUsed }
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
      land: canDeliver(state, rules, attempt, others),
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

function canDeliver(state: ModelState, rules: Rules, attempt: Attempt, others: readonly Attempt[]): boolean {
  if (rules.destination === 'evm' && isPast(state, 'fillOver')) return false
  if (!rules.hasDeliveryGuard) return true
  if (attempt.generation === 0 && state.deliveryFunding !== 'none') return false
  return !others.some((other) => isOnChain(other) && other.generation === attempt.generation)
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
  const isFree = !state.refunds.some(isOnChain) && state.strangerRefund === 'none'
  // The escrow pays only the balance of this op; the intake vault holds the money of all ops.
  const land = rules.origin === 'solana' || (isOnChain(state.lock) && isFree)
  return attemptSteps('claim', state.claim, { land, die: true, undo: true }).map(({ name, changed }) => ({
    name,
    to: { ...state, claim: { ...state.claim, ...changed } },
  }))
}

function moveRefunds(state: ModelState, rules: Rules): Step[] {
  return state.refunds.flatMap((attempt, index) => {
    const others = state.refunds.filter((_, i) => i !== index)
    const can = { land: canPayBack(state, rules, attempt, others), die: true, undo: true }
    return attemptSteps('refund', attempt, can).map(({ name, changed }) => ({
      name,
      to: { ...state, refunds: replaceAt(state.refunds, index, changed) },
    }))
  })
}

function canPayBack(state: ModelState, rules: Rules, attempt: Attempt, others: readonly Attempt[]): boolean {
  if (rules.origin === 'evm') {
    return isOnChain(state.lock) && !isOnChain(state.claim) && state.strangerRefund === 'none'
  }
  if (!state.walletTakes) return false
  if (!rules.hasRefundGuard) return true
  if (attempt.generation === 0 && state.refundFunding !== 'none') return false
  return !others.some((other) => isOnChain(other) && other.generation === attempt.generation)
}

function moveStrangers(state: ModelState, rules: Rules): Step[] {
  const funding = rules.hasMarkerFunders ? fund(state, rules) : []
  return [...funding, ...(rules.origin === 'evm' ? refundByStranger(state) : changeWallet(state))]
}

/** Before a refund is decided, the wallet's ability to receive does not matter. */
function changeWallet(state: ModelState): Step[] {
  const isAsked = ['refundDecided', 'refunding', 'refundBlocked'].includes(state.swap)
  const walletTakes = !state.walletTakes
  const name = `wallet: ${walletTakes ? 'takes' : 'refuses'} money`
  return isAsked ? [{ name, to: { ...state, walletTakes } }] : []
}

function refundByStranger(state: ModelState): Step[] {
  const to = (strangerRefund: ModelState['strangerRefund']) => ({ ...state, strangerRefund })
  if (state.strangerRefund === 'included') {
    return [
      { name: 'chain: stranger’s refund final', to: to('final') },
      { name: 'chain: stranger’s refund undone', to: to('none') },
    ]
  }
  const isFree = isFinal(state.lock) && ![state.claim, ...state.refunds].some(isOnChain)
  const isOpen = state.strangerRefund === 'none' && isFree && isPast(state, 'refundOpen')
  return isOpen ? [{ name: 'stranger: refund', to: to('included') }] : []
}

/** Strangers learn a marker once a transaction that creates it was sent. It is free until one lands. */
function fund(state: ModelState, rules: Rules): Step[] {
  const legs = [
    { key: 'deliveryFunding', attempts: state.deliveries, name: 'delivery marker', on: rules.destination },
    { key: 'refundFunding', attempts: state.refunds, name: 'refund marker', on: rules.origin },
  ] as const
  return legs.flatMap(({ key, attempts, name, on }) => {
    if (on !== 'solana') return []
    const isSeen = attempts.some(({ place, generation }) => place === 'flight' && generation === 0)
    const isTaken = attempts.some((each) => isOnChain(each) && each.generation === 0)
    if (state[key] === 'included') {
      return [
        { name: `chain: ${name} funding final`, to: { ...state, [key]: 'final' } },
        { name: `chain: ${name} funding undone`, to: { ...state, [key]: 'none' } },
      ]
    }
    if (state[key] === 'final' || !isSeen || isTaken) return []
    return [{ name: `stranger: fund ${name}`, to: { ...state, [key]: 'included' } }]
  })
}

/** All processes die at once: only the database and the chains remain. */
function crash(state: ModelState): Step[] {
  const forget = (attempt: Attempt): Attempt =>
    attempt.keeper === 'memory' ? forgetDead({ ...attempt, keeper: 'nobody' }) : attempt
  const deliveries = state.deliveries.map(forget)
  const isSame = state.intent === 'none' && deliveries.every((each, i) => each === state.deliveries[i])
  return isSame ? [] : [{ name: 'crash', to: { ...state, deliveries, intent: 'none' } }]
}
