import type { Heads } from '../chains/chain.ts'

/** The head of a chain, from the view that the chain's follower writes. */
export type HeadFollower = {
  chainId: number
  current(): Heads | undefined
  /** True while the view is renewed and its head moves. */
  isLive(): boolean
  /** Seconds during which this process observed that the head did not move. */
  downSeconds(): number
}
