import type { Pool } from 'pg'
import { parseUnits } from 'viem'
import { createBookkeeper } from '../books/ledger/bookkeeper.ts'
import type { ConnectedChain } from '../chains/families.ts'
import { createChainFollower } from '../engine/chain-follower.ts'
import type { Task } from '../engine/lane.ts'
import { createPayoutCaps, type PayoutCaps } from '../engine/payout-caps.ts'
import type { HeadFollower, ViewOfChain } from '../engine/views.ts'
import type { Logger } from '../observe/logger.ts'
import type { Topic } from '../store/wakes.ts'
import { type Catalog, findToken } from '../swap/catalog.ts'
import type { WorkerParts } from './worker-parts.ts'

type Parts = Pick<
  WorkerParts,
  'config' | 'pool' | 'chains' | 'catalog' | 'views' | 'logger' | 'wake' | 'unsigned' | 'readAwaited'
>

/** The tasks that follow a chain for all processes, under the lease of its watch. */
export function createFollowing(parts: Parts, connected: ConnectedChain): Task[] {
  const { pool, views, logger, wake } = parts
  const { chain, config, view, family } = connected
  const { chainId, blockMs } = config
  const hasFeeds = parts.config.network.assets.some(({ sources }) =>
    sources.some((source) => source.kind === 'chainlink' && source.chainId === chainId),
  )
  // A feed may price swaps of any chain.
  const locking = hasFeeds ? parts.chains.all : [connected]
  return createChainFollower({
    pool,
    chain,
    blockMs,
    callsPerHead: family.traits.callsPerHead(config.rpcUrls.length),
    hasFeeds,
    readAwaited: parts.readAwaited,
    caps: payoutCapsOf(parts, connected, views.of(chainId)),
    reader: view,
    topics: [...locking.flatMap(lockTopicsOf), `deliver:${chainId}`],
    views,
    subscription: connected.listenToHeads?.({
      onHead: () => wake(`announced:${chainId}`),
      onFault: (err) => logger.warn({ err, chain: config.name }, 'head subscription failed'),
    }),
    unsigned: parts.unsigned,
  })
}

const lockTopicsOf = ({ senders, config }: Pick<ConnectedChain, 'senders' | 'config'>) =>
  [...senders.relay, ...senders.authorize].map((locker): Topic => `lock:${config.chainId}:${locker}`)

type CapParts = { pool: Pool; catalog: Catalog }

/** The hourly caps of a vault that is a key. Undefined where a contract keeps them. */
export function payoutCapsOf(
  { pool, catalog }: CapParts,
  { config, family, nativeToken }: Pick<ConnectedChain, 'config' | 'family' | 'nativeToken'>,
  view: Pick<ViewOfChain, 'part'>,
): PayoutCaps | undefined {
  if (family.traits.capsPayouts) return undefined
  const { chainId } = config
  const texts = new Map(config.tokens.map(({ address, capPerHour }) => [address, capPerHour]))
  texts.set(nativeToken.address, config.native.capPerHour)
  return createPayoutCaps({
    pool,
    chainId,
    view,
    configured(address) {
      const text = texts.get(address)
      const chain = catalog.chains.get(chainId)
      const token = chain && findToken(chain, address)
      return text !== undefined && token ? parseUnits(text, token.decimals) : undefined
    },
  })
}

// Three readings confirm a mismatch: missing funds stop quotes within seconds of their block's finality.
const READ_MS = 3_000

type LedgerParts = { pool: Pool; catalog: Catalog; logger: Logger }

/** Keeps the ledger of a chain beside its watch, in one process at a time. */
export function createLedgerTask(
  parts: LedgerParts,
  { config, custody }: ConnectedChain,
  follower: HeadFollower,
): Task {
  const { pool, catalog, logger } = parts
  const { chainId, name } = config
  const book = createBookkeeper({
    pool,
    chain: custody,
    assetOf(token) {
      const chain = catalog.chains.get(chainId)
      return chain && findToken(chain, token)?.asset
    },
    onDrift: ({ token: tokenAddress, ...drift }) =>
      logger.error({ chain: name, tokenAddress, ...drift }, 'drift: quotes are stopped'),
    onMended: (stopId) => logger.info({ chain: name, stopId }, 'drift is over: quotes resume'),
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
