import type { Pool } from 'pg'
import type { NetworkConfig } from '../config.ts'
import { createChainFollower } from '../lanes/chain-follower.ts'
import type { Task } from '../lanes/runner.ts'
import type { Views } from '../lanes/views.ts'
import type { ConnectedChain } from './chains.ts'
import { feedsOn } from './evm.ts'

type Parts = { config: { network: NetworkConfig }; pool: Pool; views: Views }

// A new head of Solana takes a height and a time: it is looked at less often while nobody waits for it.
const CALLS_PER_HEAD = { evm: 1, solana: 1.4 }

/** What follows a chain for all processes, under the lease of its watch. */
export function createFollowing(
  { config: { network }, pool, views }: Parts,
  connected: ConnectedChain,
): Task[] {
  const { chain, config, senders, view } = connected
  const { chainId, blockMs, family } = config
  return createChainFollower({
    pool,
    chainId,
    blockMs,
    callsPerHead: CALLS_PER_HEAD[family],
    hasFeeds: feedsOn(network, chainId).length > 0,
    readHeads: (known) => chain.readHeads(known),
    reader: view,
    topics: [...senders.relay.map((locker) => `lock:${chainId}:${locker}`), `deliver:${chainId}`],
    followedBefore: () => views.of(chainId).followed(),
    news: undefined,
    onWritten: views.take,
  })
}
