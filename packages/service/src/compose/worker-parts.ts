import type { Pool } from 'pg'
import { type Config, defaultDeadlines } from '../config.ts'
import type { CollectDeps } from '../flow/settle/collect.ts'
import { createClaimCheck, createLateCheck } from '../lanes/claim-check.ts'
import { createGasWatch, type GasWatch } from '../lanes/gas-watch.ts'
import type { SignedCheck } from '../lanes/signed-check.ts'
import type { ViewOfChain, Views } from '../lanes/views.ts'
import type { Catalog } from '../model/catalog.ts'
import type { UnsignedKeys } from '../model/unsigned-keys.ts'
import type { Logger } from '../observe/logger.ts'
import type { WorkerEvents } from '../observe/worker-events.ts'
import type { Chains } from './chains.ts'
import { createDestinations, type Destinations } from './destinations.ts'
import { followPrices, type PriceCheck } from './price-check.ts'
import { createRecoverSigner } from './recover-signer.ts'
import { toServedChains } from './served-chains.ts'
import { checkSigned } from './signed.ts'

type Given = {
  config: Config
  pool: Pool
  chains: Chains
  catalog: Catalog
  views: Views
  wake(topic: string): void
  unsigned(): UnsignedKeys
  logger: Logger
  events: WorkerEvents
}

/** The parts that the lanes of a worker share. */
export type WorkerParts = Given & {
  followers: ReadonlyMap<number, ViewOfChain>
  prices: PriceCheck
  signed: SignedCheck
  collect: CollectDeps
  gas: Pick<GasWatch, 'canSend'>
  destinations: Destinations
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
  const collect = { recoverSigner: createRecoverSigner(chains), onRejected: events.signatureRejected }
  const deadlines = { ...defaultDeadlines, ...config.network.deadlines }
  const isClaimable = createClaimCheck({ deadlines, catalog, followers })
  const isLate = createLateCheck({ catalog, followers })
  const destinations = createDestinations(chains, followers)
  return { ...given, followers, prices, signed, collect, gas, isClaimable, isLate, destinations }
}

export function followerOf({ followers }: Pick<WorkerParts, 'followers'>, chainId: number): ViewOfChain {
  const follower = followers.get(chainId)
  if (!follower) throw new Error(`Chain ${chainId} is not followed`)
  return follower
}
