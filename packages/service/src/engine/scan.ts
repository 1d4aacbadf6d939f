import type { Pool } from 'pg'
import type { Chain, ChainEvent, Heads } from '../chains/chain.ts'
import { failPoint } from '../fail-point.ts'
import { isolate } from '../isolate.ts'
import {
  findOpenEvents,
  findWatched,
  oldestOpenBlock,
  readCursor,
  type Scanned,
  storePage,
  type Undo,
} from '../store/chain-events.ts'
import { storeRecoveries } from '../store/deposits.ts'

export type ScanDeps = {
  pool: Pool
  chain: Pick<Chain, 'chainId' | 'findEvents' | 'isCanonical'>
  /** Blocks that every scan reads again: the reorg window, and blocks that a node may not have indexed yet. */
  overlap: bigint
  undo: Undo
}

// Logs that a node indexes late are read with the next range.
const INDEXING_BLOCKS = 4

/** The blocks of the reorg window, and those that a node may index late. */
export function overlapOf(chain: { finality: { reorgWindowSeconds: number }; blockMs: number }): bigint {
  const { finality, blockMs } = chain
  return BigInt(Math.ceil((finality.reorgWindowSeconds * 1_000) / blockMs) + INDEXING_BLOCKS)
}

/**
 * Stores the events up to this head. Every page is committed with the cursor, so that a restart or a refusal of the
 * node costs one page. The newest blocks are read again each time: a reorg within the window shows as events that
 * disappeared or moved. An event that cannot be stored or undone delays no other; the cursor waits for it until it is
 * set aside. See docs/decisions.md#stored-events.
 */
export async function scanEvents(deps: ScanDeps, heads: Heads, faults: unknown[]): Promise<void> {
  const { pool, chain, overlap } = deps
  const cursor = (await readCursor(pool, chain.chainId)) ?? (await firstBlock(deps, heads)) - 1n
  const watched = () => findWatched(pool, chain.chainId)
  let from = atLeastZero((cursor < heads.head.number ? cursor : heads.head.number) + 1n - overlap)
  let isWhole = true
  for (;;) {
    const page = await chain.findEvents({ from, heads, watched }, faults)
    const gone = page.isComplete ? await findGone(deps, page.events, { from, to: page.to }) : []
    const { events, to } = page
    const found = { events, gone, chainId: chain.chainId, seconds: heads.head.seconds }
    isWhole = (await store(deps, isWhole ? { ...found, to } : found, faults)) && isWhole
    if (page.to >= heads.head.number) return
    from = page.to + 1n
  }
}

/** False if an event could not be stored. */
async function store(deps: ScanDeps, page: Scanned, faults: unknown[]): Promise<boolean> {
  const isNews = page.events.length + page.gone.length > 0
  if (isNews) failPoint('before events')
  const isRecovery = ({ kind }: ChainEvent) => kind === 'recovered'
  const rest = page.events.filter((event) => !isRecovery(event))
  const isStored = await storeEvents(deps, { ...page, events: rest }, faults)
  if (page.gone.some(({ kind }) => kind === 'locked')) failPoint('after lockLost')
  if (isNews) failPoint('after events')
  const recoveries = { ...page, events: page.events.filter(isRecovery) }
  // Only information: without them, nothing waits.
  await isolate(faults, { step: 'store recoveries', id: String(page.chainId) }, () =>
    storeRecoveries(deps.pool, recoveries),
  )
  return isStored
}

/** Stores a page, or each event apart if one of them cannot be stored, or undone. */
async function storeEvents({ pool, undo }: ScanDeps, page: Scanned, faults: unknown[]): Promise<boolean> {
  try {
    await storePage(pool, page, undo)
    return true
  } catch {
    // The same error follows if the database is gone.
  }
  const { to, events, gone, ...found } = page
  await storePage(pool, { ...found, events: [], gone: [] }, undo)
  const refused: unknown[] = []
  for (const event of gone) {
    const subject = { step: 'undo event', id: `${page.chainId} ${keyOf(event)}` }
    await isolate(refused, subject, () => storePage(pool, { ...found, events: [], gone: [event] }, undo))
  }
  for (const event of events) {
    const subject = { step: 'store event', id: `${page.chainId} ${keyOf(event)}` }
    await isolate(refused, subject, () => storePage(pool, { ...found, events: [event], gone: [] }, undo))
  }
  faults.push(...refused)
  if (refused.length > 0) return false
  await storePage(pool, { ...page, events: [], gone: [] }, undo)
  return true
}

/** The first block to scan of a new chain: that of the oldest open swap, or the head. */
async function firstBlock({ pool, chain }: ScanDeps, { head }: Heads): Promise<bigint> {
  return (await oldestOpenBlock(pool, chain.chainId)) ?? head.number
}

/** Stored events that the range no longer has and whose block is not canonical. A lagging node omits some too. */
async function findGone(
  { pool, chain }: ScanDeps,
  found: readonly ChainEvent[],
  range: { from: bigint; to: bigint },
): Promise<ChainEvent[]> {
  if (!chain.isCanonical) return []
  const there = new Set(found.map(keyOf))
  const known = await findOpenEvents(pool, { chainId: chain.chainId, ...range })
  const missing = known.filter((event) => !there.has(keyOf(event)))
  const gone: ChainEvent[] = []
  for (const event of missing)
    if (!(await chain.isCanonical({ number: event.block, hash: event.blockHash }))) gone.push(event)
  return gone
}

const keyOf = ({ kind, id }: ChainEvent) => `${kind}:${id}`
const atLeastZero = (number: bigint) => (number > 0n ? number : 0n)
