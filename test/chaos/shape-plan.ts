import { createRandom, type Random } from '../bench/random.ts'
import { drawCrowd } from './crowd/kinds.ts'
import {
  type Behaviour,
  behaviours,
  type ChainName,
  type ClientPlan,
  CROWD_SEED,
  type Drawer,
  drawersOn,
  type EvmChainName,
  type NemesisEvent,
  type NemesisKind,
  nemesisKinds,
  type Plan,
  RATES,
  type ShapeFault,
  spread,
  spreadOver,
} from './plan.ts'
import { drawWay, isOfPayer } from './workload.ts'

// A run on chains of a public shape. Blocks and finality take as long as on the real ones, and deadlines are
// those of production. Clocks are moved where a run would otherwise wait for minutes.

export const SHAPE_CHAINS: readonly EvmChainName[] = ['ethereum', 'base', 'arbitrum']
const ROLLUPS: readonly EvmChainName[] = ['base', 'arbitrum']
/** The defaults of the service, repeated for the checker. */
const DEADLINES = {
  opLifeSeconds: 120,
  lockInclusionSeconds: 60,
  fillSeconds: 600,
  cutOffSeconds: 60,
  attemptLifeSeconds: 90,
  detectionSeconds: 60,
  claimInclusionSeconds: 300,
}
const SECONDS_PER_SWAP = 1.5
const SUBMITTING = 0.75
const AT_ONCE = 30
const DRAIN_SECONDS = 240
const LEASE_MS = 3_000
const NODES = 3
// A block of Ethereum carries few swaps in the time of a run.
const WEIGHTED: readonly EvmChainName[] = ['base', 'arbitrum', 'base', 'arbitrum', 'ethereum']
// Within the reorg window of each: 48 s, 20 s and 20 s.
const DEEPEST: Partial<Record<EvmChainName, number>> = { ethereum: 3, base: 6, arbitrum: 24 }
// Longer than the finality of any of them, shorter than the remaining time of a delivery.
const LAPSE_SECONDS = 1_300
const LAPSES = [0.35, 0.6]
// Deeper than the window of 20 s, with swaps paid meanwhile; then past the deadline of every op in it.
const DEEP_REORG = { leastMs: 25_000, mostMs: 60_000, jumpSeconds: 200 }
const DEEP_SWAPS = 12
const ARMS_AT_ONCE = 6
const CROWD = { rounds: 1, everyMs: 1_000, chains: ['base', 'arbitrum'] as const, usd: 5, timed: 16 }

export function drawShape(options: { seed: number; swaps: number }): Plan {
  const random = createRandom(options.seed)
  const seconds = Math.max(90, Math.round(options.swaps * SECONDS_PER_SWAP))
  const deepChain = random.pick(ROLLUPS)
  return {
    seed: options.seed,
    shape: 'mainnet',
    least: 1,
    crashes: 1,
    armsAtOnce: ARMS_AT_ONCE,
    isGate: false,
    seconds,
    drainSeconds: DRAIN_SECONDS,
    workers: 3,
    nodes: NODES,
    leaseMs: LEASE_MS,
    atOnce: AT_ONCE,
    rates: RATES,
    deadlines: DEADLINES,
    clients: drawClients(random, options.swaps, seconds),
    reserve: drawForReorg(random, deepChain, options.swaps),
    deepReorg: { kind: 'deepReorg', chain: deepChain, ...DEEP_REORG },
    events: drawEvents(random, seconds).sort((a, b) => a.at - b.at),
    crowd: drawCrowd(createRandom(options.seed + CROWD_SEED), CROWD),
  }
}

function drawClients(random: Random, swaps: number, seconds: number): ClientPlan[] {
  const hostile = behaviours.filter((behaviour) => behaviour !== 'honest')
  return spread(random, hostile, swaps).map((behaviour, id) => {
    const route = drawRoute(random, behaviour)
    return {
      ...{ id, at: Math.round((id / swaps) * seconds * SUBMITTING * 1_000), behaviour },
      ...{ ...route, ...drawWay(random, behaviour, route) },
      usd: random.integer(5, 30),
    }
  })
}

/**
 * Swaps from the chain that is reverted, paid elsewhere: together they are worth more than the exposure cap.
 */
function drawForReorg(random: Random, from: EvmChainName, firstId: number): ClientPlan[] {
  const others: readonly ChainName[] = [...ROLLUPS.filter((place) => place !== from), 'solana']
  return Array.from({ length: DEEP_SWAPS }, (_, index) => ({
    id: firstId + index,
    at: index * 250,
    behaviour: 'honest',
    from,
    to: random.pick(others),
    ...{ sell: 'USDC', buy: 'USDC', method: 'delegation' },
    usd: random.integer(10, 30),
  }))
}

function drawRoute(random: Random, behaviour: Behaviour): Pick<ClientPlan, 'from' | 'to' | 'buy'> {
  const from = random.pick(WEIGHTED)
  const to = random.pick(WEIGHTED.filter((place) => place !== from))
  const isPayer = isOfPayer(behaviour) && random.next() < 0.5
  if (behaviour === 'forgedTransaction' || behaviour === 'fundedAccount' || isPayer)
    return { from: 'solana', to, buy: 'USDC' }
  if (behaviour === 'refusingRecipient')
    return { from: random.next() < 0.25 ? 'solana' : from, to, buy: 'ETH' }
  if (behaviour !== 'honest') return { from, to, buy: 'USDC' }
  const solana: ChainName = 'solana'
  const roll = random.next()
  if (roll < 0.2) return { from: solana, to, buy: 'USDC' }
  if (roll < 0.4) return { from, to: solana, buy: 'USDC' }
  return { from, to, buy: random.pick(['USDC', 'WETH', 'ETH']) }
}

type ShapeKind = Exclude<ShapeFault['kind'], 'lapse' | 'deepReorg'>

const shapeDrawers: Record<ShapeKind, Drawer> = {
  finalityStall: (random) => ({
    kind: 'finalityStall',
    chain: random.pick(SHAPE_CHAINS),
    ms: random.integer(10_000, 25_000),
  }),
  slowFinality: (random) => ({
    kind: 'slowFinality',
    chain: random.pick(SHAPE_CHAINS),
    ms: random.integer(10_000, 25_000),
  }),
  backendLag: (random) => ({
    kind: 'backendLag',
    chain: random.pick(WEIGHTED),
    ms: random.integer(5_000, 15_000),
    blocks: random.integer(3, 10),
  }),
  rateLimit: (random) => ({
    kind: 'rateLimit',
    chain: random.pick(WEIGHTED),
    ms: random.integer(3_000, 8_000),
    callsPerSecond: random.integer(0, 10),
  }),
  l1Spike: (random) => ({
    kind: 'l1Spike',
    chain: random.pick(ROLLUPS),
    ms: random.integer(5_000, 15_000),
    factor: random.integer(5, 20),
  }),
  silentSocket: (random) => ({ kind: 'silentSocket', chain: random.pick(SHAPE_CHAINS) }),
}

const local = drawersOn(WEIGHTED)
const drawers: Record<NemesisKind | ShapeKind, Drawer> = {
  ...local,
  ...shapeDrawers,
  reorg: (random) => {
    const chain = random.pick(WEIGHTED)
    return { ...local.reorg(random), chain, depth: random.integer(1, DEEPEST[chain] ?? 1) }
  },
  // Only the blocks stop: when they resume, their time is that of the clock.
  halt: (random) => ({
    kind: 'halt',
    chain: random.pick(WEIGHTED),
    ms: random.integer(4_000, 12_000),
    jumpSeconds: 0,
  }),
}

// The number per minute.
const PACE: Partial<Record<NemesisKind | ShapeKind, number>> = { kill: 4, reorg: 3, pause: 1.5, halt: 2 }
const USUAL_PACE = 1

function drawEvents(random: Random, seconds: number): NemesisEvent[] {
  const kinds = [...nemesisKinds, ...(Object.keys(shapeDrawers) as ShapeKind[])]
  const drawn = kinds.flatMap((kind) => {
    const count = Math.max(2, Math.round(((PACE[kind] ?? USUAL_PACE) * seconds) / 60))
    return spreadOver(random, { seconds, count }, drawers[kind])
  })
  const lapses = LAPSES.map((part) => ({
    at: Math.round(part * seconds * 1_000),
    kind: 'lapse' as const,
    seconds: LAPSE_SECONDS,
  }))
  return [...drawn, ...lapses]
}
