import type { Pool } from 'pg'
import type { NetworkConfig } from '../config.ts'
import { announcedTopic, createChainFollower } from '../lanes/chain-follower.ts'
import type { Task } from '../lanes/lane.ts'
import type { Views } from '../lanes/views.ts'
import type { Catalog } from '../model/catalog.ts'
import type { UnsignedKeys } from '../model/unsigned-keys.ts'
import type { Logger } from '../observe/logger.ts'
import type { ConnectedChain } from './connected-chain.ts'
import { feedsOn } from './evm.ts'
import { createPayoutCaps } from './payout-caps.ts'

type Parts = {
  config: { network: NetworkConfig }
  pool: Pool
  catalog: Catalog
  views: Views
  logger: Logger
  wake(topic: string): void
  unsigned(): UnsignedKeys
}

// A head of Solana takes more calls, for its height and time: it is polled less often while no swap waits for it.
const CALLS_PER_HEAD = { evm: 1, solana: 1.4 }

/** The tasks that follow a chain for all processes, under the lease of its watch. */
export function createFollowing(parts: Parts, connected: ConnectedChain): Task[] {
  const { pool, views, logger, wake } = parts
  const { chain, config, senders, view } = connected
  const { chainId, blockMs, family } = config
  return createChainFollower({
    pool,
    chainId,
    blockMs,
    callsPerHead: CALLS_PER_HEAD[family],
    hasFeeds: feedsOn(parts.config.network, chainId).length > 0,
    readHeads: (known) => chain.readHeads(known),
    limitHoldings: createPayoutCaps(parts, connected, views.of(chainId))?.limit,
    reader: view,
    topics: [...senders.relay.map((locker) => `lock:${chainId}:${locker}`), `deliver:${chainId}`],
    followedBefore: () => views.of(chainId).followed(),
    subscription: connected.listenToHeads?.({
      onHead: () => wake(announcedTopic(chainId)),
      onFault: (err) => logger.warn({ err, chain: config.name }, 'head subscription failed'),
    }),
    unsigned: parts.unsigned,
    onWritten: views.take,
  })
}
