import type { Pool } from 'pg'
import { mapOwn } from '../isolate.ts'
import { type Lease, releaseLanes, renewLanes } from '../store/lanes.ts'
import type { RunningLane } from './running-lane.ts'

type Options = {
  pool: Pool
  leaseMs: number
  /** Called when a lane has ended here and is ready to be released. */
  onLeft(): void
}

// Running steps get this long before their lane is handed over without them; the lease fences off late writes.
const LEAVE_MS = 300

/**
 * The lanes that this process runs. A lane that is being left counts as held until its release, so that no other
 * process starts it early.
 */
export function createHeldLanes({ pool, leaseMs, onLeft }: Options) {
  const held = new Map<string, RunningLane>()
  const ending = new Set<RunningLane>()
  const left = new Set<RunningLane>()

  async function end(running: RunningLane): Promise<void> {
    ending.add(running)
    await running.leave()
    ending.delete(running)
  }

  return {
    count: () => held.size,
    has: (name: string) => held.has(name),
    /** Whether steps that began under an earlier lease of this lane still run here. */
    isEnding: (name: string) => [...ending].some(({ lease }) => lease.name === name),
    add: (running: RunningLane) => void held.set(running.lease.name, running),
    wake(topic: string) {
      for (const running of held.values()) running.wake(topic)
    },
    /** Waits a limited time for the lane's steps, then queues the lane for release. */
    async leave(name: string): Promise<void> {
      const running = held.get(name)
      if (!running) return
      await Promise.race([end(running), new Promise((resolve) => setTimeout(resolve, LEAVE_MS))])
      left.add(running)
      onLeft()
    },
    /**
     * Releases the lanes that were left and returns their names. Must not run beside a renewal, which would extend
     * them.
     */
    async release(): Promise<string[]> {
      const leases = leasesOf([...left].filter((running) => held.get(running.lease.name) === running))
      left.clear()
      if (leases.length === 0) return []
      for (const { name } of leases) held.delete(name)
      await releaseLanes(pool, leases)
      return leases.map(({ name }) => name)
    },
    async renew(): Promise<void> {
      if (held.size === 0) return
      const kept = await renewLanes(pool, leasesOf(held.values()), leaseMs)
      for (const [name, running] of held) {
        if (kept.has(name)) continue
        void end(running)
        held.delete(name)
      }
    },
    async stop(): Promise<void> {
      await mapOwn([...held.values(), ...ending], end)
      await releaseLanes(pool, leasesOf(held.values()))
    },
  }
}

function leasesOf(running: Iterable<RunningLane>): Lease[] {
  return [...running].map(({ lease }) => lease)
}
