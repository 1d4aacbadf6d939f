import type { Database } from './database.ts'
import type { Input } from './input.ts'

export type Row = { group: string; name: string; count: number; isRequired: boolean; least: number }

const FAULTS = [
  ...['kill', 'pause', 'killDatabase', 'stallDatabase', 'reorg', 'reorged', 'halt', 'feeSpike', 'stale'],
  ...['frozen', 'forked', 'lying', 'clockJump', 'blackHole', 'solanaDrops', 'solanaDelays', 'priceMove'],
  'stolenAttester',
]

// Faults of chains that behave like public ones.
const SHAPE_FAULTS = [
  ...['finalityStall', 'slowFinality', 'backendLag', 'rateLimit', 'l1Spike', 'silentSocket', 'lapse'],
  ...['deepReorg', 'deeplyReorged'],
]

// Repeated here: the checker requires each, whatever the run calls them.
const ACTS = [
  ...['silentWallet', 'gasPriceWallet', 'originWallet', 'gasLeftWallet', 'megabyteWallet', 'goneWallet'],
  ...['delegatedAwayWallet', 'gasPriceRecipient', 'burningRecipient', 'megabyteRecipient'],
  ...['blockedWallet', 'blockedRecipient', 'pausedToken', 'renamedToken', 'changedToken'],
  ...['pointers', 'falseEvents', 'twoRecovers', 'ownOp', 'zeroLock', 'strayDeposits'],
  ...['solanaAccounts', 'solanaDust', 'solanaInput', 'solanaMarker', 'solanaHistory'],
]

const THEFTS = ['stolenDeliverer', 'stolenSolanaAttester', 'stolenInventory']

/** The last statuses that a caller is told of, and the states in which nothing is left to do. */
export const ENDS: readonly string[] = ['settled', 'refunded', 'failed']
export const OVER: readonly string[] = ['closed', 'refunded', 'failed']

export const MOVES: readonly string[] = [
  ...['awaitingDeposit accepted', 'awaitingDeposit failed'],
  ...['accepted locking', 'accepted failed', 'locking locked', 'locking failed', 'locking locking'],
  ...[
    'locked locking',
    'locked delivering',
    'locked refundDecided',
    'delivering settled',
    'delivering delivering',
  ],
  ...['delivering refundDecided', 'settled claiming', 'claiming closed', 'refundDecided refunding'],
  'refunding refunded',
]
// Transitions that need several rare events, or that this run cannot cause: counted, not required.
const RARE_MOVES = [
  'accepted awaitingDeposit',
  ...['locked refunded', 'delivering refunded', 'delivering failed', 'settled settled', 'settled closed'],
  ...['claiming claiming', 'refundDecided refunded', 'refundDecided refundBlocked', 'refunding refunding'],
  ...['refunding refundBlocked', 'refundBlocked refunding', 'refundBlocked refunded'],
]

/** Points that only deposits and old markers reach. */
const SLOW = /(sweep|recover|depositSeen)$/

/** How often each required event occurred. */
export function coverageOf(input: Input, { moves }: Pick<Database, 'moves'>): Row[] {
  const kinds = countBy(input.faults, ({ kind }) => kind)
  const seen = countBy(
    moves.filter(({ was }) => was !== null),
    ({ was, became }) => `${was} ${became}`,
  )
  const { crashes, requests, isGate, shape, least, hasAttackers, hasCrowd } = input.facts
  const acts = countBy(input.acts, ({ kind }) => kind)
  const rows = (group: string, names: readonly string[], counts: Map<string, number>, isRequired = true) =>
    names.map((name) => ({ group, name, count: counts.get(name) ?? 0, isRequired, least }))
  return [
    // A run on a shape has no time for all of them: the gate has.
    ...rows('fail-point', Object.keys(crashes), new Map(Object.entries(crashes)), !shape).map((row) => ({
      ...row,
      isRequired: row.isRequired && !(isGate && SLOW.test(row.name)),
    })),
    ...rows('request', Object.keys(requests).sort(), new Map(Object.entries(requests)), !isGate),
    ...rows('fault', FAULTS, kinds, !isGate),
    ...rows('fault', shape ? SHAPE_FAULTS : [], kinds),
    ...rows('stranger', hasCrowd ? ACTS : [], acts),
    ...rows('theft', hasAttackers ? THEFTS : [], kinds).map((row) => ({ ...row, least: 1 })),
    ...rows('transition', MOVES, seen, !isGate && !shape),
    ...rows('transition', RARE_MOVES, seen, false),
  ]
}

function countBy<T>(items: readonly T[], nameOf: (item: T) => string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const item of items) counts.set(nameOf(item), (counts.get(nameOf(item)) ?? 0) + 1)
  return counts
}
