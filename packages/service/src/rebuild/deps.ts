import type { Pool } from 'pg'
import type { Chain } from '../chains/chain.ts'
import type { CustodyChain } from '../chains/custody.ts'
import type { RecoveryChain } from '../chains/recovery.ts'
import type { DeadlinePolicy, Deadlines, Finality } from '../model/deadlines.ts'
import type { PlaceOf } from '../model/op-terms.ts'

export type RebuildChain = {
  chain: Pick<Chain, 'chainId' | 'readHeads'>
  custody: CustodyChain
  recovery: RecoveryChain
  /** What was claimed here in this hour of the chain's clock, by token; empty where nothing caps it. */
  readClaimed(): Promise<{ token: string; amount: bigint }[]>
  /** Keys of ours that send transactions here. */
  senders: readonly string[]
}

export type RebuildDeps = {
  pool: Pool
  chains: readonly RebuildChain[]
  /** Whether our keys sent something that the database does not know: then its log cannot be gone by. */
  isLogLost: boolean
  placeOf: PlaceOf
  deadlines: DeadlinePolicy
  finalityOf(origin: number, destination: number): Finality
  /** The latest that an op whose input was taken at this time can have. */
  latestDeadlines(lockedSeconds: number): Deadlines
  newSwapId(): string
  /** From where to read a chain, where that is not to follow from the database. */
  firstBlocks: ReadonlyMap<number, bigint>
  wait(): Promise<void>
  say(line: string): void
}

export type SenderNonce = { chainId: number; address: string; atLeast: number }
