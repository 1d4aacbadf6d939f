import type { Heads } from '../chains/chain.ts'
import type { Lease } from '../store/lanes.ts'
import type { HeadFollower } from './head-follower.ts'
import type { Lane } from './runner.ts'
import type { Sender } from './sender.ts'

type Options = {
  name: string
  topics: readonly string[]
  sender: Sender
  follower: HeadFollower
  /** At each new block: what became of the transactions that were sent. */
  settle(lease: Lease, heads: Heads): Promise<void>
  /** At each wake-up: new work. Heads are undefined while the chain was never reached. */
  work(lease: Lease, heads: Heads | undefined): Promise<void>
}

// While a chain stands still, what was sent is offered to its nodes again this often.
const RECHECK_MS = 2_000

/** The lane of one sender key: follows up on what was sent, then sends what waits. */
export function createSendingLane({ name, topics, sender, follower, settle, work }: Options): Lane {
  let followed: string | undefined
  let at = 0
  return {
    name,
    topics,
    async step(lease) {
      const heads = follower.current()
      const isDue = heads && (heads.head.hash !== followed || Date.now() - at > RECHECK_MS)
      if (isDue) {
        await sender.followUp(lease, heads)
        await settle(lease, heads)
        followed = heads.head.hash
        at = Date.now()
      }
      await work(lease, heads)
    },
  }
}
