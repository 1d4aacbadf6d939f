import type { Pool, PoolClient } from 'pg'
import { parseUnits } from 'viem'
import type { Heads } from '../chains/chain.ts'
import type { ConnectedChain } from '../chains/families.ts'
import type { NetworkConfig } from '../config.ts'
import { createChainFollower } from '../engine/chain-follower.ts'
import type { Task } from '../engine/lane.ts'
import type { ViewOfChain, Views } from '../engine/views.ts'
import type { Logger } from '../observe/logger.ts'
import type { Awaited } from '../store/chain-views.ts'
import { bookPayouts, readPaid } from '../store/claim-books.ts'
import type { Topic } from '../store/wakes.ts'
import { largest, smallest } from '../swap/amount.ts'
import { type Catalog, findToken } from '../swap/catalog.ts'
import { isPaid } from '../swap/lifecycle.ts'
import type { UnsignedKeys } from '../swap/served-chain.ts'
import type { Swap } from '../swap/swap.ts'
import type { Chains } from './chains.ts'

type Parts = {
  config: { network: NetworkConfig }
  pool: Pool
  chains: Pick<Chains, 'all'>
  catalog: Catalog
  views: Views
  logger: Logger
  wake(topic: Topic): void
  unsigned(): UnsignedKeys
  readAwaited(chainId: number): Promise<Awaited>
}

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
    chainId,
    blockMs,
    callsPerHead: family.traits.callsPerHead,
    hasFeeds,
    readHeads: (known) => chain.readHeads(known),
    readAwaited: parts.readAwaited,
    limitHoldings: createPayoutCaps(parts, connected, views.of(chainId))?.limit,
    reader: view,
    topics: [...locking.flatMap(lockTopicsOf), `deliver:${chainId}`],
    followedBefore: () => views.of(chainId).followed(),
    subscription: connected.listenToHeads?.({
      onHead: () => wake(`announced:${chainId}`),
      onFault: (err) => logger.warn({ err, chain: config.name }, 'head subscription failed'),
    }),
    unsigned: parts.unsigned,
    onWritten: views.take,
  })
}

const lockTopicsOf = ({ senders, config }: Pick<ConnectedChain, 'senders' | 'config'>) =>
  [...senders.relay, ...senders.authorize].map((locker): Topic => `lock:${config.chainId}:${locker}`)

type Holding = { token: string; amount: bigint }
type CapParts = { pool: Pool; catalog: Catalog }

/** The hourly caps of a vault that is a key. Undefined where a contract keeps them. */
export function createPayoutCaps(
  { pool, catalog }: CapParts,
  { config, family, nativeToken }: Pick<ConnectedChain, 'config' | 'family' | 'nativeToken'>,
  view: Pick<ViewOfChain, 'part'>,
) {
  if (family.traits.capsPayouts) return undefined
  const { chainId } = config
  const texts = new Map(config.tokens.map(({ address, capPerHour }) => [address, capPerHour]))
  texts.set(nativeToken.address, config.native.capPerHour)

  /** Without a configured cap, half of the inventory at the beginning of the hour. */
  function capOf(address: string, held: bigint, paid: bigint): bigint {
    const text = texts.get(address)
    const chain = catalog.chains.get(chainId)
    const token = chain && findToken(chain, address)
    return text !== undefined && token ? parseUnits(text, token.decimals) : (held + paid) / 2n
  }
  const heldOf = (token: string) =>
    view.part('state')?.value.holdings.find((holding) => holding.token === token)?.amount ?? 0n

  return {
    /** The part of each holding that may be paid out in this hour. */
    async limit(holdings: readonly Holding[], { head }: Heads): Promise<Holding[]> {
      const paidOf = await readPaid(pool, chainId, head.seconds)
      return holdings.map(({ token, amount }) => {
        const paid = paidOf.get(token) ?? 0n
        return { token, amount: smallest(amount, largest(capOf(token, amount, paid) - paid, 0n)) }
      })
    },
    /** Books payouts with the record of their delivery. A delivery that was reported is sent again at any cost. */
    book: (db: PoolClient, swaps: readonly Swap[], { head: { seconds } }: Heads): Promise<boolean> =>
      bookPayouts(db, {
        chainId,
        seconds,
        swaps: swaps.filter(({ state }) => !isPaid(state)),
        capOf: (token, paid) => capOf(token, heldOf(token), paid),
      }),
  }
}
