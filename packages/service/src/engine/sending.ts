import type { Heads } from '../chains/chain.ts'
import type { Lease } from '../store/lanes.ts'
import type { Topic } from '../store/wakes.ts'
import type { Lane, Task } from './lane.ts'
import type { Sender } from './sender.ts'
import type { HeadFollower } from './views.ts'

type Work = {
  topics: readonly Topic[]
  /** These wake it only if something was left. */
  topicsIfLeft?: readonly Topic[]
  /** Whether these topics made some of it possible, judged from memory alone. */
  isDue?(heads: Heads): Promise<boolean>
  /** It also runs this often. Default: five seconds. */
  idleMs?: number | undefined
  /** True if something is left for the next block. Heads are undefined until the chain was reached once. */
  run(lease: Lease, heads: Heads | undefined): Promise<boolean>
}

type Options = {
  name: string
  sender: Sender
  follower: HeadFollower
  /** Retries failed transactions after their outcomes were read. True if it found some. */
  retryStalled(lease: Lease, heads: Heads): Promise<boolean>
  /** Each runs at its own topics. After a follow-up, and at its other topics, only if something was left. */
  works: readonly Work[]
}

// A chain may make four blocks a second: outcomes are not read at each of them.
const FOLLOW_MS = 700
// While a chain stands still, its transactions are broadcast again this often.
const RECHECK_MS = 2_000
// Notifications announce new work. This finds work whose notification was lost.
const IDLE_MS = 5_000
const again = (work: number): Topic => `followed:${work}`

/** The lane of one sender key: follows up on sent transactions and, beside that, sends waiting ones. */
export function createSendingLane({ name, sender, follower, retryStalled, works }: Options): Lane {
  let followed: string | undefined
  let at = Number.NEGATIVE_INFINITY
  let isStalled = true
  let retriedAt = Number.NEGATIVE_INFINITY
  const isLeft = works.map(() => true)
  const followUp: Task = {
    topics: [`head:${follower.chainId}`, 'refused'],
    async step(lease, wakeLane) {
      const heads = follower.current()
      const isNew = performance.now() - at > (heads?.head.hash !== followed ? FOLLOW_MS : RECHECK_MS)
      if (!heads || !(isNew || sender.isRefused())) return
      const isOpen = await sender.followUp(lease, heads)
      for (const work of works.keys()) if (isLeft[work]) wakeLane(again(work))
      const now = performance.now()
      if (isOpen || isStalled || now - retriedAt > IDLE_MS) {
        isStalled = true
        isStalled = await retryStalled(lease, heads)
        retriedAt = now
      }
      followed = heads.head.hash
      at = performance.now()
    },
  }
  const tasks = works.map(({ topics, run, idleMs = IDLE_MS }, work) => ({
    topics: [...topics, again(work)],
    idleMs,
    async step(lease: Lease, wakeLane: (topic: Topic) => void) {
      isLeft[work] = true
      isLeft[work] = await run(lease, follower.current())
      if (sender.isRefused()) wakeLane('refused')
    },
  }))
  const wakers = works.flatMap(({ topicsIfLeft: topics, isDue }, work) =>
    topics ? [{ topics, isDue, work }] : [],
  )
  const waking = wakers.map(({ topics, isDue, work }) => ({
    topics,
    idleMs: IDLE_MS,
    async step(_: Lease, wakeLane: (topic: Topic) => void) {
      const heads = follower.current()
      if (isLeft[work] && (!heads || !isDue || (await isDue(heads)))) wakeLane(again(work))
    },
  }))
  return { name, tasks: [followUp, ...tasks, ...waking] }
}
