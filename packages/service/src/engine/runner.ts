import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { mapOwn } from '../isolate.ts'
import {
  askForLane,
  declareLanes,
  type Lease,
  readHolders,
  releaseLanes,
  renewLanes,
  takeLanes,
} from '../store/lanes.ts'
import type { Topic } from '../store/wakes.ts'
import { type Lane, type RunningLane, runLane } from './lane.ts'
import { createLaneBalancer } from './lane-balancer.ts'

type RunnerOptions = {
  pool: Pool
  lanes: readonly Lane[]
  /**
   * Time after which a killed or paused worker loses its lanes; the next worker takes them within a renewal interval.
   */
  leaseMs?: number
  onFault(error: unknown, lane: string): void
}

const LEASE_MS = 6_000
const RENEWALS_PER_LEASE = 4

type LaneRunner = {
  start(): Promise<void>
  wake(topic: Topic): void
  /** Handles a payload of the lanes' notification channel. */
  onLaneNotification(payload: string): void
  heldCount(): number
  stop(): Promise<void>
}

/** Takes lanes by lease, runs them while it holds them, and hands them over or releases them. */
export function createLaneRunner({ pool, lanes, leaseMs = LEASE_MS, onFault }: RunnerOptions): LaneRunner {
  const me = randomUUID()
  const renewMs = leaseMs / RENEWALS_PER_LEASE
  const balancer = createLaneBalancer({ me, renewMs, now: () => performance.now() })
  const held = createHeldLanes({ pool, leaseMs, onLeft: () => poller.pollNow() })

  async function take(): Promise<void> {
    const open = lanes.filter(({ name, isOpen }) => (isOpen?.() ?? true) && !held.isEnding(name))
    const seen = await readHolders(
      pool,
      open.map((lane) => lane.name),
    )
    const { take: free, limit, ask } = balancer.choose(seen)
    if (ask !== undefined) await askForLane(pool, ask)
    const names = free.filter((name) => !held.has(name))
    if (names.length === 0) return
    for (const lease of await takeLanes(pool, { names, holder: me, ttlMs: leaseMs, limit })) {
      const lane = lanes.find((candidate) => candidate.name === lease.name)
      if (lane) held.add(runLane(lane, lease, onFault))
    }
  }

  const poller = createPoller(renewMs, async () => {
    try {
      for (const name of await held.release()) balancer.noteHandedOver(name)
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
      await poller.start()
    },
    heldCount: () => held.count(),
    wake: (topic) => held.wake(topic),
    onLaneNotification(payload) {
      if (payload === '') poller.pollNow()
      else if (held.has(payload) && balancer.mayHandOver()) void held.leave(payload)
    },
    async stop() {
      await poller.stop()
      await held.stop()
    },
  }
}

type HeldLanesOptions = {
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
export function createHeldLanes({ pool, leaseMs, onLeft }: HeldLanesOptions) {
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
    wake(topic: Topic) {
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

/** Polls at an interval once started, and immediately on `pollNow`; polls never overlap. */
export function createPoller(everyMs: number, poll: () => Promise<void>) {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let isDueNow: boolean
  let isOn = false

  async function run(): Promise<void> {
    do {
      isDueNow = false
      await poll()
    } while (isDueNow && isOn)
    running = undefined
    if (isOn) timer = setTimeout(start, everyMs)
  }

  function start(): Promise<void> {
    isOn = true
    clearTimeout(timer)
    running ??= run()
    return running
  }

  return {
    /** Resolves after the first poll. */
    start,
    pollNow() {
      if (!isOn) return
      isDueNow = true
      void start()
    },
    /** Resolves when the last poll has ended. */
    async stop(): Promise<void> {
      isOn = false
      clearTimeout(timer)
      await running
    },
  }
}
