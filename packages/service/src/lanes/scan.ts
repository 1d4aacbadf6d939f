import type { Pool } from 'pg'
import type { Chain, ChainEvent, Heads } from '../chains/chain.ts'
import { failPoint } from '../fail-point.ts'
import { findOpenEvents, readCursor, type Scanned, storePage, type Undo } from '../store/chain-events.ts'
import { oldestOpenBlock } from '../store/open-range.ts'
import { findWatched } from '../store/watched.ts'

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
 * disappeared or moved.
 */
export async function scanEvents(deps: ScanDeps, heads: Heads, faults: unknown[]): Promise<void> {
  const { pool, chain, overlap } = deps
  const cursor = (await readCursor(pool, chain.chainId)) ?? (await firstBlock(deps, heads)) - 1n
  const watched = () => findWatched(pool, chain.chainId)
  let from = atLeastZero((cursor < heads.head.number ? cursor : heads.head.number) + 1n - overlap)
  for (;;) {
    const page = await chain.findEvents({ from, heads, watched }, faults)
    const gone = page.isComplete ? await findGone(deps, page.events, { from, to: page.to }) : []
    const stored = { ...page, chainId: chain.chainId, seconds: heads.head.seconds, gone }
    await store(deps, stored)
    if (page.to >= heads.head.number) return
    from = page.to + 1n
  }
}

async function store({ pool, undo }: ScanDeps, page: Scanned): Promise<void> {
  const isNews = page.events.length + page.gone.length > 0
  if (isNews) failPoint('before events')
  await storePage(pool, page, undo)
  if (page.gone.some(({ kind }) => kind === 'locked')) failPoint('after lockLost')
  if (isNews) failPoint('after events')
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
