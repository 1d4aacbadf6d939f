import { createRandom, type Random } from '../bench/random.ts'
import { type ClientPlan, type Plan, RATES, type Rates } from './plan.ts'

/**
 * The short run: not a sample of everything, but a workload made for its purpose. Every place where a process can
 * end lies on the way of some of these swaps, and `director.ts` does what leads there until it was seen.
 */
export function drawGate(options: { seed: number; swaps: number }): Plan {
  const random = createRandom(options.seed)
  const rates = Object.fromEntries(Object.entries(RATES).map(([fault, rate]) => [fault, rate / 4])) as Rates
  return {
    ...{ seed: options.seed, least: 1, crashes: 1, isGate: true, seconds: MOST_SECONDS, drainSeconds: 142 },
    ...{ workers: 3, nodes: 1, leaseMs: 1_000, rates, atOnce: AT_ONCE, deadlines: DEADLINES },
    clients: drawClients(random, options.swaps, 0),
    reserve: drawClients(random, options.swaps, options.swaps),
    events: [],
  }
}

const MOST_SECONDS = 240
const AT_ONCE = 16
const EVERY_MS = 250
// Nothing here is to end because time ran out, except where a clock is moved for it.
const DEADLINES = { opLifeSeconds: 60, lockInclusionSeconds: 30, fillSeconds: 120 }

type Route = Pick<ClientPlan, 'from' | 'to' | 'buy' | 'behaviour' | 'usd'>
type Behaviour = ClientPlan['behaviour']

// More than the exposure cap: what is worth this much waits for its lock to be final, and a reorg finds it waiting.
const LARGE = 25
const SMALL = 6

/** In turns. From alpha come those whose locks get lost, from beta those whose locks are undone. */
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

function drawClients(random: Random, swaps: number, firstId: number): ClientPlan[] {
  const waiting = [...hostile]
  return Array.from({ length: swaps }, (_, index) => {
    const turn = turns[index % turns.length] as Route
    const isPlain = turn.behaviour === 'honest' && turn.from === 'beta' && turn.to === 'alpha'
    const behaviour = (isPlain && index > turns.length && waiting.shift()) || turn.behaviour
    return { id: firstId + index, at: index * EVERY_MS + random.integer(0, EVERY_MS), ...turn, behaviour }
  })
}
