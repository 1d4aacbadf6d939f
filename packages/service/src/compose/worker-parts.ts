import type { Pool } from 'pg'
import { createTogether } from '../async/timing.ts'
import { type Attested, isRefundable, isSigned } from '../chains/attested.ts'
import type { Chain } from '../chains/chain.ts'
import type { Config } from '../config.ts'
import { createMoves, type Moves } from '../engine/advance.ts'
import { createClaimCheck, createLateCheck, createSignedCheck, type SignedCheck } from '../engine/checks.ts'
import { createGasWatch, type GasWatch } from '../engine/gas-watch.ts'
import type { ViewOfChain, Views } from '../engine/views.ts'
import type { CapsOf } from '../market/claim-limits.ts'
import type { Logger } from '../observe/logger.ts'
import type { WorkerEvents } from '../observe/role-metrics.ts'
import { simulateOnce } from '../stages/deliver/judge.ts'
import type { CollectDeps } from '../stages/settle/collect.ts'
import { type Awaited, readAwaited } from '../store/chain-views.ts'
import type { Topic } from '../store/wakes.ts'
import type { Catalog } from '../swap/catalog.ts'
import type { UnsignedKeys } from '../swap/served-chain.ts'
import { toServedChains } from './catalog.ts'
import type { Chains } from './chains.ts'
import { followPrices, type PriceCheck } from './prices.ts'
import type { OpenScreening } from './screening.ts'
import { followCaps } from './views.ts'

type Given = {
  config: Config
  pool: Pool
  chains: Chains
  catalog: Catalog
  views: Views
  wake(topic: Topic): void
  unsigned(): UnsignedKeys
  screening: OpenScreening | undefined
  logger: Logger
  events: WorkerEvents
}

/** The parts that the lanes of a worker share. */
export type WorkerParts = Given & {
  followers: ReadonlyMap<number, ViewOfChain>
  /** For lanes of keys; a chain's watch has its own. */
  moves: Moves
  prices: PriceCheck
  signed: SignedCheck
  collect: CollectDeps
  capsOf: CapsOf
  gas: Pick<GasWatch, 'isFree'>
  destinations: Destinations
  /** One statement for the followers of all chains: each accepted swap wakes them together. */
  readAwaited(chainId: number): Promise<Awaited>
  /** Whether a delivery's input can be claimed in time, and whether a chain's finality is too slow. */
  isClaimable: ReturnType<typeof createClaimCheck>
  isLate: ReturnType<typeof createLateCheck>
}

/** Adds heads, prices and gas from the chains' views, and the checks of signatures and claims. */
export function completeParts(given: Given): WorkerParts {
  const { config, pool, chains, catalog, views, events } = given
  const followers = new Map(chains.all.map(({ config: { chainId } }) => [chainId, views.of(chainId)]))
  const prices = followPrices(given)
  const gas = createGasWatch(toServedChains(config.network, chains.all), views)
  const signed = checkSigned(pool, chains, events.unsigned)
  const collect = {
    recoverSigner: (attested: Attested, signature: string) =>
      chains.of(attested.chainId).attestations.recoverSigner(attested, signature),
    onRejected: events.signatureRejected,
  }
  const { deadlines } = config.network
  const isClaimable = createClaimCheck({ deadlines, catalog, followers })
  const isLate = createLateCheck({ catalog, followers })
  const destinations = createDestinations(chains, followers)
  const moves = createMoves(pool, events.moved)
  const capsOf = followCaps({ chains, views, catalog, priceOf: prices.priceOf })
  const checks = { prices, signed, gas, isClaimable, isLate, capsOf }
  const awaited = createTogether((chainIds: readonly number[]) => readAwaited(pool, chainIds))
  return { ...given, ...checks, followers, moves, collect, destinations, readAwaited: awaited }
}

export function followerOf({ followers }: Pick<WorkerParts, 'followers'>, chainId: number): ViewOfChain {
  const follower = followers.get(chainId)
  if (!follower) throw new Error(`Chain ${chainId} is not followed`)
  return follower
}

type OnUnsigned = Parameters<typeof createSignedCheck>[0]['onUnsigned']

/** Checks wallets' signatures of stored terms by this process's own configuration and nodes. */
function checkSigned(pool: Pool, chains: Chains, onUnsigned: OnUnsigned): SignedCheck {
  const deps = { custodyOf: chains.custodyOf, originOf: (chainId: number) => chains.of(chainId).chain }
  return createSignedCheck({
    pool,
    isSigned: (swap) => isSigned(deps, swap),
    isRefundable: (swap) => isRefundable(deps, swap),
    onUnsigned,
  })
}

type Destinations = { of(chainId: number): Chain }

/** One for each chain: the lanes of locks and of deliveries share its simulations. */
function createDestinations(chains: Chains, followers: ReadonlyMap<number, ViewOfChain>): Destinations {
  const destinations = new Map(
    chains.all.map(({ chain, contracts, nativeToken, config: { chainId } }) => {
      const holdings = () => followers.get(chainId)?.part('state')?.value.holdings
      const holdingOf = (held: string) => holdings()?.find(({ token }) => token === held)?.amount
      return [chainId, simulateOnce(chain, { holdingOf, strangeToken: contracts && nativeToken.address })]
    }),
  )
  return {
    of(chainId) {
      const destination = destinations.get(chainId)
      if (!destination) throw new Error(`Chain ${chainId} is not configured`)
      return destination
    },
  }
}
