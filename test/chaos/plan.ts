import type { InputMethod } from '@geoswap/wire'
import { createRandom, type Random } from '../bench/random.ts'
import { type CrowdPlan, drawCrowd } from './crowd/kinds.ts'
import { drawForAll, drawVictims, drawWay, isOfPayer } from './workload.ts'

/** One run, drawn from a seed before it starts, and recorded so that it can be repeated. */
export type Plan = {
  seed: number
  /** The required count of each fail-point, fault and transition. */
  least: number
  /** The duration of the faults. */
  seconds: number
  /** The time for swaps to end afterwards. */
  drainSeconds: number
  /** The number of processes that each fail-point ends. */
  crashes: number
  /** The number of fail-points that a process is armed with at a time; all by default. */
  armsAtOnce?: number
  /** Whether to end as soon as every fail-point was reached, and to require nothing else. */
  isGate: boolean
  /** The chains of the network; `local` by default. */
  shape?: 'mainnet'
  workers: number
  /** The number of nodes of each chain in the service's configuration. */
  nodes: number
  /** How long a dead worker keeps its lanes. */
  leaseMs: number
  rates: Rates
  /** The most clients at a time. */
  atOnce?: number
  /** Deadlines that differ from the usual ones of a run. */
  deadlines?: Partial<Record<string, number>>
  clients: ClientPlan[]
  /**
   * Clients for the time after the plan: for events that are still missing, or for a deep reorg to revert.
   */
  reserve: ClientPlan[]
  /** After all other faults: clients whose swaps go on while attackers take what each of their keys allows. */
  victims?: ClientPlan[]
  /** After all other faults. */
  deepReorg?: Extract<ShapeFault, { kind: 'deepReorg' }>
  events: NemesisEvent[]
  /** Strangers beside the clients. */
  crowd?: CrowdPlan
}

/** Per request between the service and a node. */
export type Rates = Record<RequestFault, number>
export const requestFaults = [
  'dropRequest',
  'dropReply',
  'delay',
  'duplicate',
  'serverError',
  'rpcError',
  'truncated',
  'nullResult',
] as const
export type RequestFault = (typeof requestFaults)[number]

export const behaviours = [
  'honest',
  'parallelSubmits',
  'malleatedSignature',
  'tamperedToken',
  'sweptBalance',
  'movedNonce',
  'foreignDelegation',
  'refusingRecipient',
  'earlyRefund',
  'forgedTransaction',
  'fundedAccount',
  'otherTenant',
  'spentPermit',
  'cancelledAuthorization',
  'smallDeposit',
  'largeDeposit',
  'twoDeposits',
  'lateDeposit',
  'missingDeposit',
  'cancelledPayment',
  'twoPayments',
  'wrongPayments',
] as const
/** A stranger's swap is part of an act of the crowd. */
export type Behaviour = (typeof behaviours)[number] | 'stranger'
export type EvmChainName = 'alpha' | 'beta' | 'ethereum' | 'base' | 'arbitrum'
export type ChainName = EvmChainName | 'solana'
export type ClientPlan = {
  id: number
  /** After the start, in milliseconds. */
  at: number
  from: ChainName
  to: ChainName
  sell: 'USDC' | 'ETH' | 'GEO'
  buy: string
  usd: number
  behaviour: Behaviour
  /** How the input comes in; on Solana by a payment, or else by the transaction that the service writes. */
  method?: InputMethod
  /** An honest swap whose time is measured: beside strangers, or without them. */
  pace?: 'alone' | 'beside'
}

export type NemesisEvent = { at: number } & (PlannedFault | ShapeFault)
export type PlannedFault =
  | { kind: 'kill'; role: 'api' | 'worker' | 'attester'; index: number }
  | { kind: 'pause'; role: 'api' | 'worker' | 'attester'; index: number; ms: number }
  | { kind: 'killDatabase' }
  | { kind: 'stallDatabase'; ms: number }
  | { kind: 'reorg'; chain: EvmChainName; depth: number; keeps: boolean }
  | { kind: 'halt'; chain: EvmChainName; ms: number; jumpSeconds: number }
  | { kind: 'feeSpike'; chain: EvmChainName; ms: number }
  /** Affects all nodes of the chain, unless one is named. */
  | { kind: 'stale'; chain: EvmChainName; ms: number; lag: number; node?: number }
  | { kind: 'frozen'; chain: ChainName; ms: number; node?: number }
  | { kind: 'forked'; chain: EvmChainName; ms: number; lag: number; node: number }
  | { kind: 'lying'; chain: ChainName; ms: number; node: number }
  | { kind: 'blackHole'; chain: EvmChainName; role: 'lock' | 'deliver' | 'claim'; ms: number }
  | { kind: 'clockJump'; role: 'api' | 'worker' | 'attester'; index: number; ms: number; aheadMs: number }
  | { kind: 'solanaDrops'; ms: number; percent: number; seed: number }
  | { kind: 'solanaDelays'; count: number; slots: number }
  | { kind: 'priceMove'; percent: number; ms: number }
  /** Always the same attester: two of three decide. */
  | { kind: 'stolenAttester'; ms: number }
/** Faults that only chains of a public shape can have. */
export type ShapeFault =
  /** Tags do not move, or lag by three times the usual, while heads advance. */
  | { kind: 'finalityStall' | 'slowFinality'; chain: EvmChainName; ms: number }
  | { kind: 'backendLag'; chain: EvmChainName; ms: number; blocks: number }
  | { kind: 'rateLimit'; chain: EvmChainName; ms: number; callsPerSecond: number }
  | { kind: 'l1Spike'; chain: EvmChainName; ms: number; factor: number }
  | { kind: 'silentSocket'; chain: EvmChainName }
  /** Time passes at once, on all chains. */
  | { kind: 'lapse'; seconds: number }
  /** Reverts more than the reorg window, and the signatures of reverted transactions are too old by then. */
  | { kind: 'deepReorg'; chain: EvmChainName; leastMs: number; mostMs: number; jumpSeconds: number }
export type NemesisKind = PlannedFault['kind']
export const nemesisKinds: readonly NemesisKind[] = [
  ...(['kill', 'pause', 'killDatabase', 'stallDatabase', 'reorg', 'halt', 'feeSpike', 'stale'] as const),
  ...(['forked', 'lying', 'clockJump'] as const),
  ...(['frozen', 'blackHole', 'solanaDrops', 'solanaDelays', 'priceMove'] as const),
  'stolenAttester',
]

// Per thousand requests; a request carries up to a hundred calls, so most steps are affected.
export const RATES: Rates = {
  dropRequest: 0.02,
  dropReply: 0.02,
  delay: 0.03,
  duplicate: 0.02,
  serverError: 0.01,
  rpcError: 0.01,
  truncated: 0.005,
  nullResult: 0.05,
}

const LEAST = 3
// Swaps run out of time only when a test moves a clock, not because the machine is slow.
export const UNHURRIED = { opLifeSeconds: 60, depositSeconds: 60, lockInclusionSeconds: 30, fillSeconds: 120 }
// The longest time until a swap is refunded, and half a minute.
export const DRAIN_SECONDS = 60 + 30 + 120 + 30
// A long run has more faults at a time: a swap that lost its lock has time for another one.
const LONG = { ...UNHURRIED, opLifeSeconds: 120, depositSeconds: 120 }
const LONG_DRAIN_SECONDS = DRAIN_SECONDS + LONG.opLifeSeconds - UNHURRIED.opLifeSeconds
/** Longer than all of it. */
export const JUMP_SECONDS = 310
const SECONDS_PER_SWAP = 0.75
// Clients that start only while some event was not seen often enough: for each planned one, and at least.
const RESERVE = 3
const LEAST_RESERVE = 1_800
const AT_ONCE = 60
// With all of them, every step of a swap ends a process, and swaps run out of time.
const ARMS_AT_ONCE = 4
// Swaps start in the first part of the run; the rest is for their later stages.
const SUBMITTING = 0.7
const QUIET_SWAPS = 24
// A third of the usual: a crash blocks its lanes this long, and there are hundreds.
const LEASE_MS = 2_000
// One of them is wrong at a time.
const NODES = 3
// Drawn apart, so that the clients of a seed stay the same.
export const CROWD_SEED = 500
const CROWD = {
  ...{ rounds: LEAST, everyMs: 500, chains: ['alpha', 'beta'] as const, usd: 2, timed: 20 },
}

export function draw(options: { seed: number; swaps: number }): Plan {
  const random = createRandom(options.seed)
  const { swaps } = options
  const seconds = Math.max(60, Math.round(swaps * SECONDS_PER_SWAP))
  const reserved = Math.max(LEAST_RESERVE, RESERVE * swaps)
  return {
    seed: options.seed,
    ...{ least: LEAST, crashes: LEAST },
    ...{ isGate: false, armsAtOnce: ARMS_AT_ONCE, atOnce: AT_ONCE, deadlines: LONG },
    ...{ seconds, drainSeconds: LONG_DRAIN_SECONDS, workers: 3, nodes: NODES, leaseMs: LEASE_MS },
    rates: RATES,
    clients: drawClients(random, swaps, seconds),
    reserve: drawForAll(random, reserved, swaps),
    victims: drawVictims(swaps + reserved),
    crowd: drawCrowd(createRandom(options.seed + CROWD_SEED), CROWD),
    events: drawEvents(random, seconds).sort((a, b) => a.at - b.at),
  }
}

/** A quiet run, for mutants that break without faults: every route, some refunds, a reorg or two. */
export function drawQuiet(seed: number): Plan {
  const random = createRandom(seed)
  const { crowd: _, ...plan } = draw({ seed, swaps: QUIET_SWAPS })
  const still = Object.fromEntries(requestFaults.map((fault) => [fault, 0])) as Rates
  const chainNames = ['alpha', 'beta', 'solana'] as const
  const clients = plan.clients.map((client, id): ClientPlan => {
    const from = chainNames[id % chainNames.length] ?? 'alpha'
    const others = chainNames.filter((place) => place !== from)
    const isRefused = id % 4 === 0
    const to = isRefused ? (from === 'alpha' ? 'beta' : 'alpha') : random.pick(others)
    const order = { from, to, buy: isRefused ? 'ETH' : 'USDC' }
    const usual = from !== 'solana' && id % 5 === 0 ? 'largeDeposit' : 'honest'
    const behaviour = isRefused ? 'refusingRecipient' : usual
    return { ...client, ...order, ...drawWay(random, behaviour, order), at: id * 400, behaviour }
  })
  const reorgs = [6_000, 12_000].map((at): NemesisEvent => ({ at, ...drawers.reorg(random) }) as NemesisEvent)
  return {
    ...{
      ...plan,
      clients,
      ...{ reserve: [], victims: [] },
      rates: still,
      events: reorgs,
      ...{ least: 1, crashes: 0 },
      workers: 1,
      nodes: 1,
      leaseMs: 6_000,
    },
    ...{ seconds: 20, drainSeconds: 60, deadlines: {} },
  }
}

function drawClients(random: Random, swaps: number, seconds: number): ClientPlan[] {
  const turns = spread(
    random,
    behaviours.filter((behaviour) => behaviour !== 'honest'),
    swaps,
  )
  return turns.map((behaviour, id) => {
    const route = drawRoute(random, behaviour)
    return {
      ...{ id, at: Math.round((id / swaps) * seconds * SUBMITTING * 1_000), behaviour },
      ...{ ...route, ...drawWay(random, behaviour, route) },
      usd: random.integer(5, 30),
    }
  })
}

/**
 * About every fourth client is hostile, each kind in turn; refusing recipients are more frequent, for their
 * refunds.
 */
export function spread(random: Random, hostile: readonly Behaviour[], swaps: number): Behaviour[] {
  let next = 0
  return Array.from({ length: swaps }, () => {
    const roll = random.next()
    if (roll < 0.06) return 'refusingRecipient'
    if (roll > 0.24) return 'honest'
    next += 1
    return hostile[next % hostile.length] ?? 'honest'
  })
}

function drawRoute(random: Random, behaviour: Behaviour): Route {
  const isPayer = isOfPayer(behaviour) && random.next() < 0.5
  if (behaviour === 'forgedTransaction' || behaviour === 'fundedAccount' || isPayer)
    return { from: 'solana', to: random.pick(['alpha', 'beta'] as const), buy: 'USDC' }
  const from = random.pick(['alpha', 'beta'] as const)
  const to = from === 'alpha' ? 'beta' : 'alpha'
  if (behaviour === 'refusingRecipient')
    return { from: random.next() < 0.25 ? 'solana' : from, to, buy: 'ETH' }
  if (behaviour !== 'honest') return { from, to, buy: 'USDC' }
  const roll = random.next()
  if (roll < 0.2) return { from: 'solana', to: from, buy: 'USDC' }
  if (roll < 0.4) return { from, to: 'solana', buy: 'USDC' }
  return { from, to, buy: random.pick(['USDC', 'WETH', 'ETH']) }
}

type Route = Pick<ClientPlan, 'from' | 'to' | 'buy'>

export type Drawer = (random: Random) => Omit<NemesisEvent, 'at'>
const LOCAL: readonly EvmChainName[] = ['alpha', 'beta']
const roles = ['api', 'worker', 'worker', 'attester'] as const

const oneNode = (random: Random) => random.integer(0, NODES - 1)
// Usually one of them: if all are wrong in the same way, the chain itself halts.
const someNode = (random: Random) => (random.next() < 0.7 ? { node: oneNode(random) } : {})
const HOUR_MS = 3_600_000

/** The form of each fault on these EVM chains, and on Solana. */
export const drawersOn = (chains: readonly EvmChainName[]): Record<NemesisKind, Drawer> => ({
  kill: (random) => ({ kind: 'kill', role: random.pick(roles), index: random.integer(0, 2) }),
  // A lease is 6 s: some of the pauses outlast it, and some do not.
  pause: (random) => ({
    ...{ kind: 'pause', role: random.pick(roles) },
    ...{ index: random.integer(0, 2), ms: random.integer(1_000, 12_000) },
  }),
  killDatabase: () => ({ kind: 'killDatabase' }),
  stallDatabase: () => ({ kind: 'stallDatabase', ms: 2_000 }),
  reorg: (random) => ({
    ...{ kind: 'reorg', chain: random.pick(chains), depth: random.integer(1, 3), keeps: random.next() < 0.8 },
  }),
  halt: (random) => ({
    ...{ kind: 'halt', chain: random.pick(chains), ms: random.integer(3_000, 6_000) },
    jumpSeconds: random.next() < 0.25 ? JUMP_SECONDS : 0,
  }),
  feeSpike: (random) => ({ kind: 'feeSpike', chain: random.pick(chains), ms: random.integer(2_000, 10_000) }),
  stale: (random) => ({
    ...{
      kind: 'stale',
      chain: random.pick(chains),
      ms: random.integer(1_500, 4_000),
      lag: random.integer(1, 20),
    },
    ...someNode(random),
  }),
  frozen: (random) => ({
    ...{ kind: 'frozen', chain: random.pick([...chains, 'solana']) },
    ...{ ms: random.integer(1_500, 5_000), ...someNode(random) },
  }),
  forked: (random) => ({
    ...{ kind: 'forked', chain: random.pick(chains), ms: random.integer(2_000, 8_000) },
    ...{ lag: random.integer(0, 6), node: oneNode(random) },
  }),
  lying: (random) => ({
    ...{ kind: 'lying', chain: random.pick([...chains, 'solana']) },
    ...{ ms: random.integer(2_000, 8_000), node: oneNode(random) },
  }),
  // The clocks of API processes differ by less than a second; otherwise they would not have started.
  clockJump: (random) => {
    const role = random.pick(roles)
    const aheadMs = (role === 'api' ? 900 : HOUR_MS) * random.pick([-1, 1])
    return { kind: 'clockJump', role, index: random.integer(0, 2), ms: random.integer(2_000, 8_000), aheadMs }
  },
  // Three blocks to a replacement, six of them to a burn, and a burn has to survive a crash or two.
  blackHole: (random) => ({
    ...{
      kind: 'blackHole',
      chain: random.pick(chains),
      role: random.pick(['lock', 'deliver', 'claim'] as const),
    },
    ms: random.integer(20_000, 28_000),
  }),
  solanaDrops: (random) => ({
    ...{
      kind: 'solanaDrops',
      ms: 6_000,
      percent: random.integer(30, 100),
      seed: random.integer(1, 1_000_000),
    },
  }),
  // A blockhash is valid for 150 slots: some transactions land in the last possible slots, some too late.
  solanaDelays: (random) => ({ kind: 'solanaDelays', count: 3, slots: random.integer(20, 160) }),
  priceMove: (random) => ({ kind: 'priceMove', percent: random.pick([-15, 15]), ms: 2_500 }),
  stolenAttester: (random) => ({ kind: 'stolenAttester', ms: random.integer(4_000, 12_000) }),
})
const drawers = drawersOn(LOCAL)

// The number per minute.
const PACE: Partial<Record<NemesisKind, number>> = { kill: 6, reorg: 5, pause: 3, halt: 3, killDatabase: 2 }

function drawEvents(random: Random, seconds: number): NemesisEvent[] {
  return nemesisKinds.flatMap((kind) => {
    const count = Math.max(LEAST + 1, Math.round(((PACE[kind] ?? 1.5) * seconds) / 60))
    return spreadOver(random, { seconds, count }, drawers[kind])
  })
}

/** One in each part of the time, so that they do not all come at once. */
export function spreadOver(
  random: Random,
  { seconds, count }: { seconds: number; count: number },
  drawer: Drawer,
): NemesisEvent[] {
  const part = (seconds * 1_000 * 0.9) / count
  return Array.from({ length: count }, (_, index) => {
    const at = Math.round(2_000 + part * (index + random.next()))
    return { at, ...drawer(random) } as NemesisEvent
  })
}
