import type { Heads } from '../chains/chain.ts'
import { createAwakeClock } from './awake-clock.ts'

type Options = {
  chainId: number
  readHeads(known?: Heads): Promise<Heads>
  blockMs: number
  maxAgeMs: number
  onHead(heads: Heads): void
  onFault(error: unknown): void
}

export type HeadFollower = {
  chainId: number
  current(): Heads | undefined
  /** True while the node answers and its head moves. */
  isLive(): boolean
  /** Seconds for which this process has looked and the head has not moved. */
  downSeconds(): number
  start(): void
  stop(): void
}

const MIN_POLL_MS = 50

/** Follows a chain's head for every lane of this process, so that each new block is asked for once. */
export function createHeadFollower(options: Options): HeadFollower {
  let heads: Heads | undefined
  let movedAt = performance.now()
  const awake = createAwakeClock()
  let movedAwake = awake.now()
  // A new block is seen within a small part of its time; right after one, the next is not asked for yet.
  const pollMs = Math.max(MIN_POLL_MS, options.blockMs / 20)
  let timer: NodeJS.Timeout | undefined
  let stopped = false

  async function poll(): Promise<void> {
    let wait = pollMs
    try {
      const seen = await options.readHeads(heads)
      if (seen !== heads) {
        heads = seen
        movedAt = performance.now()
        movedAwake = awake.now()
        wait = Math.max(pollMs, options.blockMs / 2)
        options.onHead(seen)
      }
    } catch (error) {
      options.onFault(error)
    }
    if (!stopped) timer = setTimeout(poll, wait)
  }

  return {
    chainId: options.chainId,
    current: () => heads,
    isLive: () => heads !== undefined && performance.now() - movedAt <= options.maxAgeMs,
    downSeconds: () => (awake.now() - movedAwake) / 1_000,
    start: () => void poll(),
    stop() {
      stopped = true
      awake.stop()
      clearTimeout(timer)
    },
  }
}
