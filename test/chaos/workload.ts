import type { Random } from '../bench/random.ts'
import type { ClientPlan } from './plan.ts'

// Swaps that pass every point where a process can end.

const EVERY_MS = 250

type Route = Pick<ClientPlan, 'from' | 'to' | 'buy' | 'behaviour' | 'usd'>
type Behaviour = ClientPlan['behaviour']

// More than the exposure cap: such a swap waits for its lock to be final, and a reorg finds it waiting.
const LARGE = 25
const SMALL = 6

/** In turn. Swaps from alpha lose their locks, swaps from beta have theirs reverted. */
const turns: readonly Route[] = [
  ...[toAlpha('honest', LARGE), toBeta('honest', SMALL), toAlpha('refusingRecipient', LARGE)],
  ...[toAlpha('honest', LARGE), toAlpha('sweptBalance', SMALL), fromSolana('refusingRecipient')],
  ...[toAlpha('honest', LARGE), toAlpha('refusingRecipient', LARGE), toSolana('honest')],
  ...[fromSolana('honest'), toAlpha('honest', LARGE), toBeta('movedNonce', SMALL)],
]
// Each once, in place of an honest one.
const hostile = [
  ...([
    'parallelSubmits',
    'malleatedSignature',
    'tamperedToken',
    'foreignDelegation',
    'earlyRefund',
  ] as const),
  ...(['otherTenant'] as const),
]

function bought(behaviour: Behaviour): string {
  return behaviour === 'refusingRecipient' ? 'ETH' : 'USDC'
}

function toBeta(behaviour: Behaviour, usd: number): Route {
  return { from: 'alpha', to: 'beta', buy: bought(behaviour), behaviour, usd }
}

function toAlpha(behaviour: Behaviour, usd: number): Route {
  return { from: 'beta', to: 'alpha', buy: bought(behaviour), behaviour, usd }
}

function fromSolana(behaviour: Behaviour): Route {
  return { from: 'solana', to: 'beta', buy: bought(behaviour), behaviour, usd: SMALL }
}

function toSolana(behaviour: Behaviour): Route {
  return { from: 'beta', to: 'solana', buy: 'USDC', behaviour, usd: SMALL }
}

/** Clients for every fail-point, in turn. */
export function drawForAll(random: Random, swaps: number, firstId: number): ClientPlan[] {
  const waiting = [...hostile]
  return Array.from({ length: swaps }, (_, index) => {
    const turn = turns[index % turns.length] as Route
    const isPlain = turn.behaviour === 'honest' && turn.from === 'beta' && turn.to === 'alpha'
    const behaviour = (isPlain && index > turns.length && waiting.shift()) || turn.behaviour
    return { id: firstId + index, at: index * EVERY_MS + random.integer(0, EVERY_MS), ...turn, behaviour }
  })
}
