import type { Pool } from 'pg'
import type { HeadFollower } from '../lanes/head-follower.ts'
import type { Task } from '../lanes/lane.ts'
import { createBookkeeper } from '../ledger/bookkeeper.ts'
import { type Catalog, findToken } from '../model/catalog.ts'
import type { Logger } from '../observe/logger.ts'
import type { ConnectedChain } from './connected-chain.ts'

// Three readings confirm a mismatch: missing funds stop quotes within seconds of their block's finality.
const READ_MS = 3_000

type Parts = { pool: Pool; catalog: Catalog; logger: Logger }

/** Keeps the ledger of a chain beside its watch, in one process at a time. */
export function createLedgerTask(
  parts: Parts,
  { config, custody }: ConnectedChain,
  follower: HeadFollower,
): Task {
  const { pool, catalog, logger } = parts
  const { chainId, name } = config
  const book = createBookkeeper({
    ...{ pool, chain: custody },
    assetOf(token) {
      const chain = catalog.chains.get(chainId)
      return chain && findToken(chain, token)?.asset
    },
    onDrift: ({ token: tokenAddress, ...drift }) =>
      logger.error({ chain: name, tokenAddress, ...drift }, 'drift: quotes are stopped'),
    onMended: (stopId) => logger.warn({ chain: name, stopId }, 'drift is over: quotes resume'),
  })
  let nextAt = 0
  return {
    topics: [`head:${chainId}`],
    async step() {
      if (performance.now() < nextAt) return
      nextAt = performance.now() + READ_MS
      await book(() => follower.current()?.hard)
    },
  }
}
