import type { Heads } from '../chains/chain.ts'

/** The head of a chain as a process knows it from the view that its follower writes. */
export type HeadFollower = {
  chainId: number
  current(): Heads | undefined
  /** True while the view is renewed and its head moves. */
  isLive(): boolean
  /** Seconds for which this process has looked and the head has not moved. */
  downSeconds(): number
}
