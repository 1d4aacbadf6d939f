import type { Pool } from 'pg'
import { createTogether } from '../async/timing.ts'
import { groupBy } from '../swap/group.ts'
import type { Swap } from '../swap/swap.ts'
import {
  type Attempt,
  findAttemptsWithEvent,
  findOpenAttempts,
  type Scanned,
  type SenderKey,
  type WithEvent,
} from './attempts.ts'
import { findStalledDeliveries, findStalledLocks, findToDeliver, type Stalled } from './swaps.ts'

type StalledLocks = Stalled & { locker: string }

type SharedReads = {
  openAttempts(key: SenderKey): Promise<Attempt[]>
  attemptsWithEvent(asked: WithEvent): Promise<Scanned>
  stalledLocks(lane: StalledLocks): Promise<Swap[]>
  stalledDeliveries(lane: Stalled): Promise<Swap[]>
  /** The locked swaps of a chain, of which each key delivers its share. */
  toDeliver(chainId: number): Promise<Swap[]>
}

const DELIVERED_AT_ONCE = 200

const known = new WeakMap<Pool, SharedReads>()

/** Readings of the lanes of all keys at a head: one statement for those that ask in one turn of the event loop. */
export function sharedReadsOf(pool: Pool): SharedReads {
  const reads = known.get(pool) ?? createSharedReads(pool)
  known.set(pool, reads)
  return reads
}

function createSharedReads(pool: Pool): SharedReads {
  const findLocks = async (lanes: readonly StalledLocks[], at: Stalled) => {
    const found = await findStalledLocks(pool, { ...at, lockers: lanes.map(({ locker }) => locker) })
    return (lane: StalledLocks) => found.filter(({ op }) => op.locker === lane.locker)
  }
  const findDeliveries = async (_: readonly Stalled[], at: Stalled) => {
    const found = await findStalledDeliveries(pool, at)
    return () => found
  }
  return {
    openAttempts: createTogether((keys: readonly SenderKey[]) => findOpenAttempts(pool, keys)),
    attemptsWithEvent: createTogether((asked: readonly WithEvent[]) => findAttemptsWithEvent(pool, asked)),
    stalledLocks: createTogether((lanes: readonly StalledLocks[]) => perBlocks(lanes, findLocks)),
    toDeliver: createTogether(async (chainIds: readonly number[]) => {
      const find = async (chainId: number) =>
        [chainId, await findToDeliver(pool, { chainId, limit: DELIVERED_AT_ONCE })] as const
      return new Map(await Promise.all(chainIds.map(find)))
    }),
    stalledDeliveries: createTogether((lanes: readonly Stalled[]) => perBlocks(lanes, findDeliveries)),
  }
}

/** One reading for the lanes with the same blocks: another block decides differently. */
async function perBlocks<Lane extends Stalled>(
  lanes: readonly Lane[],
  find: (lanes: readonly Lane[], at: Stalled) => Promise<(lane: Lane) => Swap[]>,
): Promise<Map<Lane, Swap[]>> {
  const groups = groupBy(lanes, ({ chainId, hard, settle }) => `${chainId} ${hard} ${settle}`)
  const findOf = async (group: readonly Lane[]) => {
    const [at] = group
    if (!at) return []
    const of = await find(group, at)
    return group.map((lane) => [lane, of(lane)] as const)
  }
  const found = await Promise.all([...groups.values()].map(findOf))
  return new Map(found.flat())
}
