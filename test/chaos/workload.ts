import type { Random } from '../bench/random.ts'
import type { ClientPlan } from './plan.ts'
import { isSent } from './sent.ts'

// Swaps that pass every point where a process can end.

const EVERY_MS = 250

type Route = Pick<ClientPlan, 'from' | 'to' | 'sell' | 'buy' | 'behaviour' | 'usd' | 'method'>
type Behaviour = ClientPlan['behaviour']

// More than the exposure cap: such a swap waits for its lock to be final, and a reorg finds it waiting.
const LARGE = 25
const SMALL = 6

/** In turn. Swaps from alpha lose their locks, swaps from beta have theirs reverted. */
const turns: readonly Route[] = [
  ...[toAlpha('honest'), toBeta('largeDeposit', 'deposit'), toAlpha('refusingRecipient')],
  ...[toAlpha('honest', 'deposit'), toAlpha('sweptBalance'), fromSolana('refusingRecipient')],
  ...[toAlpha('honest', 'authorization'), toAlpha('refusingRecipient', 'deposit'), toSolana('honest')],
  ...[fromSolana('honest'), toAlpha('honest', 'permit'), toBeta('movedNonce'), toBeta('honest')],
  ...[toAlpha('honest', 'transfer'), toAlpha('honest', 'payment'), fromSolana('honest', 'payment')],
]
const PAYERS = ['cancelledPayment', 'twoPayments', 'wrongPayments'] as const
export const isOfPayer = (behaviour: Behaviour) => METHOD_OF[behaviour] === 'payment'

// Each once, in place of an honest one.
const hostile: readonly (Behaviour | Route)[] = [
  ...(['parallelSubmits', 'malleatedSignature', 'tamperedToken', 'foreignDelegation'] as const),
  ...(['earlyRefund', 'otherTenant', 'spentPermit', 'cancelledAuthorization'] as const),
  ...(['smallDeposit', 'twoDeposits', 'lateDeposit', 'missingDeposit'] as const),
  ...PAYERS,
  ...PAYERS.map((behaviour) => fromSolana(behaviour, 'payment')),
]

type Method = NonNullable<ClientPlan['method']>

/** Refusing recipients get coin, of which a deposit must be too. */
function tokensOf(behaviour: Behaviour, method?: Method): Pick<Route, 'sell' | 'buy'> {
  if (behaviour !== 'refusingRecipient') return { sell: 'USDC', buy: 'USDC' }
  return { sell: method === 'deposit' ? 'ETH' : 'USDC', buy: 'ETH' }
}

function toBeta(behaviour: Behaviour, method: Method = 'delegation'): Route {
  return { from: 'alpha', to: 'beta', ...tokensOf(behaviour, method), behaviour, method, usd: SMALL }
}

function toAlpha(behaviour: Behaviour, method: Method = 'delegation'): Route {
  const usd = behaviour === 'sweptBalance' ? SMALL : LARGE
  return { from: 'beta', to: 'alpha', ...tokensOf(behaviour, method), behaviour, method, usd }
}

function fromSolana(behaviour: Behaviour, method?: Method): Route {
  const route = { from: 'solana', to: 'beta', ...tokensOf(behaviour), behaviour, usd: SMALL } as const
  return method ? { ...route, method } : route
}

function toSolana(behaviour: Behaviour): Route {
  return { ...toAlpha(behaviour), to: 'solana', usd: SMALL }
}

const comesSent = ({ method, behaviour }: Pick<Route, 'method' | 'behaviour'>) =>
  isSent(method) || isSent(METHOD_OF[behaviour])

/** Clients for every fail-point that is reached without a sent input, in turn and without end. */
export function* drawUnsent(random: Random): Generator<ClientPlan, never> {
  let id = 0
  for (const client of drawEndlessly(random)) {
    if (comesSent(client)) continue
    yield { ...client, id, at: id * EVERY_MS }
    id += 1
  }
  throw new Error('Clients come without end')
}

/** Clients for every fail-point, in turn. */
export function drawForAll(random: Random, swaps: number, firstId: number): ClientPlan[] {
  return take(drawEndlessly(random), swaps).map((client) => ({ ...client, id: firstId + client.id }))
}

export function take<T>(source: Iterator<T, never>, count: number): T[] {
  return Array.from({ length: count }, () => source.next().value)
}

function* drawEndlessly(random: Random): Generator<ClientPlan, never> {
  const waiting = [...hostile]
  for (let id = 0; ; id += 1) {
    const turn = turns[id % turns.length] as Route
    const isPlain = turn.behaviour === 'honest' && turn.from === 'beta' && turn.to === 'alpha'
    const other = isPlain && id > turns.length ? waiting.shift() : undefined
    const changed = typeof other === 'string' ? { ...drawWay(random, other, turn), behaviour: other } : other
    yield { id, at: id * EVERY_MS + random.integer(0, EVERY_MS), ...turn, ...changed }
  }
}

/** Inputs on Solana to take back, and outputs that a robbed vault may lack. */
export function drawVictims(firstId: number): ClientPlan[] {
  const routes = [fromSolana('honest'), toSolana('honest'), toBeta('honest')]
  return Array.from({ length: 9 }, (_, index) => {
    const route = routes[index % routes.length] as Route
    return { id: firstId + index, at: index * EVERY_MS, ...route }
  })
}

// How the inputs of other clients come in.

const SIGNED = ['delegation', 'authorization', 'permit'] as const
const METHOD_OF: Partial<Record<Behaviour, Method>> = {
  ...{ movedNonce: 'delegation', foreignDelegation: 'delegation' },
  ...{ cancelledAuthorization: 'authorization', spentPermit: 'permit' },
  ...{ smallDeposit: 'deposit', largeDeposit: 'deposit', twoDeposits: 'deposit' },
  ...{ lateDeposit: 'deposit', missingDeposit: 'deposit' },
  ...{ cancelledPayment: 'payment', twoPayments: 'payment', wrongPayments: 'payment' },
}

type Way = Pick<ClientPlan, 'sell' | 'method'>

/** The way that a behaviour needs, or any. A deposit is swapped for the same asset: coin for coin, or dollars. */
export function drawWay(
  random: Random,
  behaviour: Behaviour,
  { from, buy }: Pick<ClientPlan, 'from' | 'buy'>,
): Way {
  if (from === 'solana') {
    const isPaid = isOfPayer(behaviour) || (behaviour === 'honest' && random.next() < 0.5)
    return { sell: 'USDC', ...(isPaid && { method: 'payment' }) }
  }
  const others = [...SIGNED, 'deposit', 'transfer'] as const
  // Payers do what other clients do by deeds of their own.
  const methods: readonly Method[] =
    behaviour === 'sweptBalance' ? SIGNED : behaviour === 'honest' ? [...others, 'payment'] : others
  const method = METHOD_OF[behaviour] ?? random.pick(methods)
  return { method, sell: method === 'deposit' && buy !== 'USDC' ? 'ETH' : 'USDC' }
}
