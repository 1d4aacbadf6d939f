import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { askForLane, declareLanes, type Lease, readHolders, takeLanes } from '../store/lanes.ts'
import { createHeldLanes } from './held-lanes.ts'
import { createPulse } from './pulse.ts'
import { runLane } from './running-lane.ts'
import { createSpreading } from './spread.ts'

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
  /** What came by the channel of the lanes. */
  hear(payload: string): void
  heldCount(): number
  stop(): Promise<void>
}

/** Takes lanes by lease, runs them while it holds them, and hands them over or back. */
export function createLaneRunner({ pool, lanes, leaseMs = LEASE_MS, onFault }: Options): LaneRunner {
  const me = randomUUID()
  const beatMs = leaseMs / BEATS_PER_LEASE
  const spreading = createSpreading({ me, beatMs, now: () => performance.now() })
  const held = createHeldLanes({ pool, leaseMs, onLeft: () => pulse.hurry() })

  async function take(): Promise<void> {
    const open = lanes.filter(({ name, isOpen }) => (isOpen?.() ?? true) && !held.isEnding(name))
    const seen = await readHolders(
      pool,
      open.map((lane) => lane.name),
    )
    const { take: free, limit, ask } = spreading.choose(seen)
    if (ask !== undefined) await askForLane(pool, ask)
    const names = free.filter((name) => !held.has(name))
    if (names.length === 0) return
    for (const lease of await takeLanes(pool, { names, holder: me, ttlMs: leaseMs, limit })) {
      const lane = lanes.find((candidate) => candidate.name === lease.name)
      if (lane) held.add(runLane(lane, lease, onFault))
    }
  }

  const pulse = createPulse(beatMs, async () => {
    try {
      for (const name of await held.release()) spreading.noteHandedOver(name)
      await held.renew()
      await take()
    } catch (error) {
      onFault(error, 'leases')
    }
  })

  return {
    async start() {
      await declareLanes(
        pool,
        lanes.map((lane) => lane.name),
      )
      await pulse.start()
    },
    heldCount: () => held.count(),
    wake: (topic) => held.wake(topic),
    hear(payload) {
      if (payload === '') pulse.hurry()
      else if (held.has(payload) && spreading.mayHandOver()) void held.leave(payload)
    },
    async stop() {
      await pulse.stop()
      await held.stop()
    },
  }
}
