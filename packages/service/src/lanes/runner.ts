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

/** Work that one process at a time may do: a sender key's transactions, the watch over a chain. */
export type Lane = {
  name: string
  /** Topics that wake it; it also runs once a second, so that a lost wake-up costs a second, not a swap. */
  topics: readonly string[]
  step(lease: Lease): Promise<void>
}

type Options = {
  pool: Pool
  lanes: readonly Lane[]
  onFault(error: unknown, lane: string): void
}

// A worker that was killed or paused loses its lanes after this long; the next one takes over within a beat.
const LEASE_MS = 6_000
const BEAT_MS = 1_500
const IDLE_MS = 1_000
const BACK_OFF_MS = 250

type Held = { lease: Lease; lane: Lane; lost: boolean; wake(): void; done: Promise<void> }

export type LaneRunner = { start(): Promise<void>; wake(topic: string): void; stop(): Promise<void> }

/** Takes lanes by lease, runs them while it holds them, and gives them back when it stops. */
export function createLaneRunner({ pool, lanes, onFault }: Options): LaneRunner {
  const holder = randomUUID()
  const held = new Map<string, Held>()
  let timer: NodeJS.Timeout | undefined
  let stopped = false

  async function beat(): Promise<void> {
    try {
      await renew()
      await take()
    } catch (error) {
      onFault(error, 'leases')
    }
    if (!stopped) timer = setTimeout(beat, BEAT_MS)
  }

  async function renew(): Promise<void> {
    if (held.size === 0) return
    const kept = await renewLanes(
      pool,
      [...held.values()].map((lane) => lane.lease),
      LEASE_MS,
    )
    for (const [name, lane] of held) if (!kept.has(name)) drop(lane)
  }

  async function take(): Promise<void> {
    const names = lanes.map((lane) => lane.name).filter((name) => !held.has(name))
    // A fair share each: whoever holds more than its part leaves what is free to the others.
    const workers = Math.max(1, await countHolders(pool))
    const isMember = held.size > 0 ? 0 : 1
    const share = Math.ceil(lanes.length / (workers + isMember))
    const limit = workers === 1 && held.size > 0 ? names.length : Math.max(0, share - held.size)
    if (names.length === 0 || limit === 0) return
    for (const lease of await takeLanes(pool, { names, holder, ttlMs: LEASE_MS, limit })) run(lease)
  }

  function run(lease: Lease): void {
    const lane = lanes.find((candidate) => candidate.name === lease.name)
    if (!lane) return
    const entry: Held = { lease, lane, lost: false, wake: () => {}, done: Promise.resolve() }
    held.set(lane.name, entry)
    entry.done = loop(entry)
  }

  async function loop(entry: Held): Promise<void> {
    while (!entry.lost && !stopped) {
      let woken = false
      const sleep = new Promise<void>((resolve) => {
        const timeout = setTimeout(resolve, IDLE_MS)
        entry.wake = () => {
          woken = true
          clearTimeout(timeout)
          resolve()
        }
      })
      try {
        await entry.lane.step(entry.lease)
      } catch (error) {
        onFault(error, entry.lane.name)
        await new Promise((resolve) => setTimeout(resolve, BACK_OFF_MS))
      }
      if (!woken) await sleep
    }
  }

  function drop(entry: Held): void {
    entry.lost = true
    held.delete(entry.lane.name)
    entry.wake()
  }

  return {
    async start() {
      await declareLanes(
        pool,
        lanes.map((lane) => lane.name),
      )
      await beat()
    },
    wake(topic) {
      for (const entry of held.values()) if (entry.lane.topics.includes(topic)) entry.wake()
    },
    async stop() {
      stopped = true
      clearTimeout(timer)
      const mine = [...held.values()]
      for (const entry of mine) entry.wake()
      await Promise.all(mine.map((entry) => entry.done))
      await releaseLanes(
        pool,
        mine.map((entry) => entry.lease),
      )
    },
  }
}
