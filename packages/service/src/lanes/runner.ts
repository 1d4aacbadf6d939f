import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import {
  countHolders,
  declareLanes,
  type Lease,
  releaseLanes,
  renewLanes,
  takeLanes,
} from '../store/lanes.ts'
import { type RunningLane, runLane } from './running-lane.ts'

/** What one process at a time may do: a sender key's transactions, the watch over a chain. */
export type Lane = {
  name: string
  tasks: readonly Task[]
  /** A lane that is not open yet is left to others. Default: it is. */
  isOpen?(): boolean
}

/** One kind of a lane's work: never beside itself, but beside the lane's other tasks. */
export type Task = {
  /** Topics that wake it; it also runs once a second, so that a lost wake-up costs a second, not a swap. */
  topics: readonly string[]
  step(lease: Lease, wakeLane: (topic: string) => void): Promise<void>
}

type Options = {
  pool: Pool
  lanes: readonly Lane[]
  /** A worker that was killed or paused loses its lanes after this long; the next one takes over within a beat. */
  leaseMs?: number
  onFault(error: unknown, lane: string): void
}

const LEASE_MS = 6_000
const BEATS_PER_LEASE = 4

export type LaneRunner = {
  start(): Promise<void>
  wake(topic: string): void
  heldCount(): number
  stop(): Promise<void>
}

/** Takes lanes by lease, runs them while it holds them, and gives them back when it stops. */
export function createLaneRunner({ pool, lanes, leaseMs = LEASE_MS, onFault }: Options): LaneRunner {
  const holder = randomUUID()
  const held = new Map<string, RunningLane>()
  let timer: NodeJS.Timeout | undefined
  let stopped = false

  async function beat(): Promise<void> {
    try {
      await renew()
      await take()
    } catch (error) {
      onFault(error, 'leases')
    }
    if (!stopped) timer = setTimeout(beat, leaseMs / BEATS_PER_LEASE)
  }

  async function renew(): Promise<void> {
    if (held.size === 0) return
    const kept = await renewLanes(pool, leasesOf(held.values()), leaseMs)
    for (const [name, running] of held) {
      if (kept.has(name)) continue
      running.leave()
      held.delete(name)
    }
  }

  async function take(): Promise<void> {
    const all = lanes.filter(({ isOpen }) => isOpen?.() ?? true).map((lane) => lane.name)
    const names = all.filter((name) => !held.has(name))
    const limit = fairShare({ lanes: all.length, held: held.size, holders: await countHolders(pool, all) })
    if (names.length === 0 || limit === 0) return
    for (const lease of await takeLanes(pool, { names, holder, ttlMs: leaseMs, limit })) {
      const lane = lanes.find((candidate) => candidate.name === lease.name)
      if (lane) held.set(lane.name, runLane(lane, lease, onFault))
    }
  }

  return {
    async start() {
      await declareLanes(
        pool,
        lanes.map((lane) => lane.name),
      )
      await beat()
    },
    heldCount: () => held.size,
    wake(topic) {
      for (const running of held.values()) running.wake(topic)
    },
    async stop() {
      stopped = true
      clearTimeout(timer)
      const mine = [...held.values()]
      await Promise.all(mine.map((running) => running.leave()))
      await releaseLanes(pool, leasesOf(mine))
    },
  }
}

function leasesOf(running: Iterable<RunningLane>): Lease[] {
  return [...running].map(({ lease }) => lease)
}

/** How many more lanes to take: an equal part of all, or everything when nobody else is there. */
export function fairShare(seen: { lanes: number; held: number; holders: number }): number {
  const isAlone = seen.holders === (seen.held > 0 ? 1 : 0)
  if (isAlone) return seen.lanes - seen.held
  const workers = seen.holders + (seen.held > 0 ? 0 : 1)
  return Math.max(0, Math.ceil(seen.lanes / workers) - seen.held)
}
