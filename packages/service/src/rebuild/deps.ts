import type { Pool } from 'pg'
import type { Chain } from '../chains/chain.ts'
import type { CustodyChain } from '../chains/custody.ts'
import type { RecoveryChain } from '../chains/recovery.ts'
import type { DeadlinePolicy, Deadlines, Finality } from '../model/deadlines.ts'
import type { CustodyOf } from '../model/op-terms.ts'

export type RebuildChain = {
  chain: Pick<Chain, 'chainId' | 'readHeads' | 'ways'>
  custody: CustodyChain
  recovery: RecoveryChain
  /** Claims of the current hour of the chain's clock, by token; empty if uncapped. */
  readClaimed(): Promise<{ token: string; amount: bigint }[]>
  /** Our own keys that send transactions here. */
  senders: readonly string[]
}

export type RebuildDeps = {
  pool: Pool
  chains: readonly RebuildChain[]
  /** Whether our keys sent transactions that the database lacks: its attempts are then unreliable. */
  isLogLost: boolean
  custodyOf: CustodyOf
  deadlines: DeadlinePolicy
  finalityOf(origin: number, destination: number): Finality
  /** The latest possible deadlines of an op whose input was taken at this time. */
  latestDeadlines(lockedSeconds: number): Deadlines
  newSwapId(): string
  /** The venue of a delivery, by the adapter that it was bought through; undefined if unknown. */
  venueOf(chainId: number, adapter?: string): string | undefined
  /** First blocks to read, overriding those that follow from the database. */
  firstBlocks: ReadonlyMap<number, bigint>
  wait(): Promise<void>
  say(line: string): void
}

export type SenderNonce = { chainId: number; address: string; atLeast: number }
