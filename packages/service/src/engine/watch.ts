import type { Pool } from 'pg'
import type { Chain, ChainEvent, Heads, LockState } from '../chains/chain.ts'
import { isolate } from '../isolate.ts'
import { releaseStalledAttestations } from '../store/attestations.ts'
import {
  discardEvents,
  findEvents,
  findFinalEvents,
  rewindCursor,
  type StoredEvent,
} from '../store/chain-events.ts'
import { type ChainWork, readChainWork } from '../store/chain-work.ts'
import type { Lease } from '../store/lanes.ts'
import { findPositionsPast, freePositions } from '../store/ops.ts'
import { findOpenAfter, findUnlocked } from '../store/swaps.ts'
import { collectError, throwFirst } from '../swap/group.ts'
import type { Swap } from '../swap/swap.ts'
import type { Lane, Task } from './lane.ts'
import { followAbandoned } from './record-outcomes.ts'
import { type ScanDeps, scanEvents } from './scan.ts'
import type { HeadFollower } from './views.ts'

type Finalize = (heads: Heads, events: readonly StoredEvent[], faults: unknown[]) => Promise<ChainEvent[]>

type Options = Omit<ScanDeps, 'chain'> & {
  pool: Pool
  chain: Chain
  follower: HeadFollower
  /** The keys whose lanes follow up on their own transactions. */
  senders: readonly string[]
  confirmLocks(heads: Heads): Promise<void>
  confirmDeliveries(lease: Lease, heads: Heads): Promise<void>
  /** Both return the events that the final state contradicts. */
  closeSwaps: Finalize
  finalizeDeliveries: Finalize
  /** Tells swaps what went back from the addresses of their ops. */
  noteRecoveries(heads: Heads, faults: unknown[]): Promise<void>
  /** Called when the `safe` block has advanced. */
  onSafe(after: bigint, upTo: bigint): Promise<void>
}

// One call reads the state of this many events.
const FINALIZED_AT_ONCE = 500
const UPKEEP_MS = 30_000
// Without a transaction that waits for its event, a scan shows only reorgs and transactions of others.
const IDLE_SCAN_MS = 15_000

/** The lane that watches a chain: at each new head it stores events and advances swaps by them. */
export function createWatchLane(options: Options): Lane {
  const { pool, chain, follower, senders } = options
  const handleFinality = createFinalityHandler(options)
  let done: string | undefined
  let scanAt = 0
  const watch: Task = {
    topics: [`head:${chain.chainId}`],
    async step(lease) {
      const heads = follower.current()
      if (!heads || heads.head.hash === done) return
      const faults: unknown[] = []
      const at = { chainId: chain.chainId, head: heads.head.number, hard: heads.hard, senders }
      const work = await readChainWork(pool, at)
      const isScanDue = work.isEventExpected || performance.now() >= scanAt
      if (isScanDue) {
        await scanEvents(options, heads, faults)
        scanAt = performance.now() + IDLE_SCAN_MS
      }
      await Promise.all([
        work.hasUndelivered && collectError(faults, () => options.confirmDeliveries(lease, heads)),
        work.hasUnlocked && collectError(faults, () => options.confirmLocks(heads)),
      ])
      // The scan may have stored events that are final already.
      const found = { hasFinal: work.hasFinal || isScanDue, hasRecoveries: work.hasRecoveries || isScanDue }
      await handleFinality(heads, { ...work, ...found }, faults)
      throwFirst(faults)
      done = heads.head.hash
    },
  }
  return { name: `watch:${chain.chainId}`, tasks: [watch, createUpkeep(options)] }
}

/** Frees positions and audits the event log in a task of its own, so that a slow node delays no swap. */
function createUpkeep(options: Options): Task {
  const audit = createAudit(options)
  let dueAt = 0
  return {
    topics: [],
    async step() {
      const heads = options.follower.current()
      if (!heads || performance.now() < dueAt) return
      dueAt = performance.now() + UPKEEP_MS
      const faults: unknown[] = []
      await freeUnlocked(options, heads, faults)
      await collectError(faults, () => audit(heads, faults))
      throwFirst(faults)
    },
  }
}

/** Handles events that became final or safe, once for each head. */
function createFinalityHandler(options: Options) {
  let safe = -1n
  return async (heads: Heads, work: ChainWork, faults: unknown[]): Promise<void> => {
    if (work.hasFinal || work.hasPaidUnlocked) await finalize(options, heads, faults)
    if (heads.safe && heads.safe.number > safe) {
      await options.onSafe(safe, heads.safe.number)
      safe = heads.safe.number
    }
    if (work.hasAbandoned) await followAbandoned(options, heads)
    if (work.hasExits) await releaseStalledAttestations(options.pool, attestationsOf(options))
    if (work.hasRecoveries) await collectError(faults, () => options.noteRecoveries(heads, faults))
  }
}

/** Advances swaps by events that are final now, and discards events that the final state contradicts. */
async function finalize(options: Options, heads: Heads, faults: unknown[]): Promise<void> {
  const { pool, chain, undo } = options
  const query = { chainId: chain.chainId, hard: heads.hard.number, limit: FINALIZED_AT_ONCE }
  const events = await findFinalEvents(pool, query)
  const isDelivery = ({ kind }: StoredEvent) => kind === 'delivered'
  const [delivered, taken] = [events.filter(isDelivery), events.filter((event) => !isDelivery(event))]
  const contradicted = await Promise.all([
    collectError(faults, () => options.finalizeDeliveries(heads, delivered, faults)),
    collectError(faults, () => options.closeSwaps(heads, taken, faults)),
  ])
  const gone = contradicted.flatMap((each) => each ?? [])
  for (const event of gone) {
    const subject = { step: 'discard event', id: `${chain.chainId} ${event.kind}:${event.id}` }
    await isolate(faults, subject, () => discardEvents(pool, chain.chainId, [event], undo))
  }
}

const attestationsOf = ({ chain: { chainId }, senders }: Options) => ({ chainId, senders })

/** Frees the positions of ended ops that a hard-final block past their deadline does not show as locked. */
async function freeUnlocked({ pool, chain }: Options, heads: Heads, faults: unknown[]): Promise<void> {
  const past = await findPositionsPast(pool, chain.chainId, heads.hard.seconds)
  if (past.length === 0) return
  const states = await chain.readLocks(past, heads.hard, faults)
  const free = past.filter(({ hash }) => states.has(hash) && states.get(hash) !== 'locked')
  await freePositions(
    pool,
    free.map((held) => held.opId),
  )
}

type Deps = { pool: Pool; chain: Pick<Chain, 'chainId' | 'readLocks'>; auditedAtOnce?: number }

/**
 * Compares the escrow's state with the stored events, in case a node left out a log. Checks the swaps that wait for
 * their lock, and in turn a part of all other open swaps. Rewinds the cursor to scan again for a missing event.
 */
export function createAudit({ pool, chain, auditedAtOnce = 1_000 }: Deps) {
  const { chainId } = chain
  let after = ''
  return async (heads: Heads, faults: unknown[]): Promise<void> => {
    const unlocked = await findUnlocked(pool, chainId)
    const others = await findOpenAfter(pool, { chainId, after, limit: auditedAtOnce })
    after = others.length < auditedAtOnce ? '' : (others.at(-1)?.id ?? '')
    await compare(unlocked, await readStates(unlocked, heads.head, faults))
    await compare(others, await readStates(others, heads.hard, faults))
  }

  async function readStates(swaps: readonly Swap[], at: Heads['head'], faults: unknown[]) {
    const ops = swaps.map(({ op }) => op)
    return ops.length > 0 ? chain.readLocks(ops, at, faults) : new Map<string, LockState>()
  }

  async function compare(swaps: readonly Swap[], states: ReadonlyMap<string, LockState>): Promise<void> {
    for (const kind of ['locked', 'claimed', 'refunded'] as const) {
      const shown = swaps.filter(({ op }) => states.get(op.hash) === kind)
      const ids = shown.map(({ op }) => op.hash)
      const known = await findEvents(pool, { chainId, kind, ids })
      const missing = shown.filter(
        ({ op, originFinal }) => !known.has(op.hash) && !(kind === 'locked' && originFinal),
      )
      const [first] = missing.map(({ op }) => op.originBlock).sort((a, b) => (a < b ? -1 : 1))
      if (first !== undefined) await rewindCursor(pool, { chainId, to: first - 1n })
    }
  }
}
