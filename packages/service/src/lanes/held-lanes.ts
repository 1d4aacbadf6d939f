import type { Pool } from 'pg'
import { type Lease, releaseLanes, renewLanes } from '../store/lanes.ts'
import type { RunningLane } from './running-lane.ts'

type Options = {
  pool: Pool
  leaseMs: number
  /** A lane was left and waits to be released. */
  onLeft(): void
}

// Steps under way may take this long before their lane is handed over without them: the fence stops what is too late.
const LEAVE_MS = 300

/** The lanes that run here. One that is left counts as held until it is released, so that nobody begins before. */
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
    /** Whether steps of it still run here that began under a lease from before. */
    isEnding: (name: string) => [...ending].some(({ lease }) => lease.name === name),
    add: (running: RunningLane) => void held.set(running.lease.name, running),
    wake(topic: string) {
      for (const running of held.values()) running.wake(topic)
    },
    /** Lets its steps end, not for ever, and then wants it to be released. */
    async leave(name: string): Promise<void> {
      const running = held.get(name)
      if (!running) return
      await Promise.race([end(running), new Promise((resolve) => setTimeout(resolve, LEAVE_MS))])
      left.add(running)
      onLeft()
    },
    /** Gives back what was left, and says what that was. Never beside a renewal, which would hold it again. */
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
      await Promise.all([...held.values(), ...ending].map(end))
      await releaseLanes(pool, leasesOf(held.values()))
    },
  }
}

function leasesOf(running: Iterable<RunningLane>): Lease[] {
  return [...running].map(({ lease }) => lease)
}
