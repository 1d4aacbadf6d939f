import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { askForLane, declareLanes, readHolders, takeLanes } from '../store/lanes.ts'
import { createHeldLanes } from './held-lanes.ts'
import type { Lane } from './lane.ts'
import { createLaneBalancer } from './lane-balancer.ts'
import { createPoller } from './poller.ts'
import { runLane } from './running-lane.ts'

type Options = {
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
  wake(topic: string): void
  /** Handles a payload of the lanes' notification channel. */
  onLaneNotification(payload: string): void
  heldCount(): number
  stop(): Promise<void>
}

/** Takes lanes by lease, runs them while it holds them, and hands them over or releases them. */
export function createLaneRunner({ pool, lanes, leaseMs = LEASE_MS, onFault }: Options): LaneRunner {
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
