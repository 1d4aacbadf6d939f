import { geoEscrowAbi } from '@geoswap/protocol'
import { type Address, type PublicClient, parseAbi } from 'viem'
import { findAttesterChange } from '../../swap/attester-set.ts'
import type { Heads } from '../chain.ts'
import type { ChainState, FeedRound, PoolCurve, ViewReader } from '../view.ts'
import { orUndefined } from './attempt.ts'
import { readAttesterSets, readProposedSet } from './attesters.ts'
import type { EvmClients } from './client.ts'
import { type PriceReader, readLegCosts } from './fees.ts'
import { readHoldings } from './reads.ts'
import type { EvmChainSettings } from './settings.ts'
import { strangeReads } from './strange-reads.ts'
import type { EvmVenue } from './venue.ts'
import type { EvmLock } from './ways.ts'

const aggregatorAbi = parseAbi([
  'function decimals() view returns (uint8)',
  'function description() view returns (string)',
  'function latestRoundData() view returns (uint80, int256 answer, uint256, uint256 updatedAt, uint80)',
])

export type ExpectedFeed = { address: Address; description: string }
type FeedFacts = { decimals: number; description: string }

// Chainlink's feeds have 8 decimals, or 18 if quoted in a coin: anything else is not a price feed.
const FEED_DECIMALS = [8, 18]
// The owner of a feed may replace the contract behind its address.
const FACTS_MS = 300_000

/** Undefined if there is no feed at the address. */
export async function readFeedFacts(client: PublicClient, address: Address): Promise<FeedFacts | undefined> {
  const feed = { address, abi: aggregatorAbi } as const
  const reads = strangeReads(client)
  const [description, decimals] = await Promise.all([
    orUndefined(client, () => reads.readContract({ ...feed, functionName: 'description' })),
    orUndefined(client, () => reads.readContract({ ...feed, functionName: 'decimals' })),
  ])
  return description === undefined || decimals === undefined ? undefined : { description, decimals }
}

/** Whether the feed is the configured one: another one would give the price of another asset. */
export function isFeedOf({ description }: ExpectedFeed, facts: FeedFacts): boolean {
  return facts.description === description && FEED_DECIMALS.includes(facts.decimals)
}

/** Reads Chainlink-compatible feeds of one chain at a block, without those that revert or are not as configured. */
export function createFeedReader(client: PublicClient, feeds: readonly ExpectedFeed[]) {
  const addresses = [...new Set(feeds.map(({ address }) => address))]
  const readDecimals = createDecimalsReader(client, feeds)
  const readRound = async (address: Address, blockNumber: bigint): Promise<[Address, FeedRound][]> => {
    const round = { address, abi: aggregatorAbi, functionName: 'latestRoundData', blockNumber } as const
    const [decimals, [, answer, , updatedAt]] = await Promise.all([
      readDecimals(address),
      strangeReads(client).readContract(round),
    ])
    return decimals === undefined ? [] : [[address, { answer, decimals, updatedAt }]]
  }
  return async (blockNumber: bigint): Promise<Record<string, FeedRound>> => {
    const answers = await Promise.allSettled(addresses.map((address) => readRound(address, blockNumber)))
    const given = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    return Object.fromEntries(given)
  }
}

/** The decimals of a feed that is as configured; looked at again from time to time. */
function createDecimalsReader(client: PublicClient, feeds: readonly ExpectedFeed[]) {
  const known = new Map<Address, { until: number; reading: Promise<number | undefined> }>()
  return (address: Address): Promise<number | undefined> => {
    const before = known.get(address)
    if (before && performance.now() < before.until) return before.reading
    const expected = feeds.filter((feed) => feed.address === address)
    const reading = readFeedFacts(client, address).then((facts) => {
      if (facts && expected.every((feed) => isFeedOf(feed, facts))) return facts.decimals
      known.delete(address)
      return undefined
    })
    known.set(address, { until: performance.now() + FACTS_MS, reading })
    reading.catch(() => known.delete(address))
    return reading
  }
}

type Options = {
  clients: Pick<EvmClients, 'gathered'>
  settings: EvmChainSettings
  prices: PriceReader
  locks: readonly EvmLock[]
  /** The keys whose native balances are read. */
  keys: readonly string[]
  feeds: readonly ExpectedFeed[]
  venues: readonly EvmVenue[]
  /** Decimals of the tokens sold to venues, in which sizes are counted. */
  decimalsOf(token: Address): Promise<number>
}

/** Reads the parts of an EVM chain's view. Reads of one block in one tick share one call. */
export function createEvmViewReader(options: Options): ViewReader {
  const { clients, settings, keys, feeds } = options
  const { agreed } = clients.gathered
  const readRounds = createFeedReader(agreed, feeds)
  const readCoins = (blockNumber: bigint) =>
    entriesOf(keys, (address) => agreed.getBalance({ address: address as Address, blockNumber }))
  const readClaimCaps = (blockNumber: bigint) =>
    entriesOf(settings.tokens, async (token) => {
      const caps = { address: settings.escrow, abi: geoEscrowAbi, functionName: 'claimCaps' } as const
      const [limit] = await agreed.readContract({ ...caps, args: [token as Address], blockNumber })
      return limit
    })

  return {
    readCosts: (at) => readLegCosts(options.prices, options.locks, at),
    async readState({ head }: Heads): Promise<ChainState> {
      const { seconds, number: blockNumber } = head
      const { escrow, attesters: configured } = settings
      const [rounds, balances, holdings, claimCaps, sets, proposed] = await Promise.all([
        readRounds(blockNumber),
        readCoins(blockNumber),
        readHoldings(agreed, settings, head),
        readClaimCaps(blockNumber),
        readAttesterSets(agreed, { escrow, from: seconds, blockNumber }),
        readProposedSet(agreed, { escrow, blockNumber }),
      ])
      const attesterChange = findAttesterChange({ sets, proposed, configured, seconds })
      return { rounds, balances, holdings, claimCaps, seconds, attesterChange }
    },
    readPools: ({ head }) => readCurves(options, head.number),
  }
}

async function entriesOf(names: readonly string[], read: (name: string) => Promise<bigint>) {
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await read(name)] as const)))
}

async function readCurves(options: Options, blockNumber: bigint): Promise<PoolCurve[]> {
  const unitOf = async (token: Address) => 10n ** BigInt(await options.decimalsOf(token))
  const curves = await Promise.all(
    options.venues.map(async ({ name, readCurves }) => {
      const ofVenue = await readCurves(options.clients.gathered.agreed, { blockNumber, unitOf })
      return ofVenue.map((curve) => ({ venue: name, ...curve }))
    }),
  )
  return curves.flat()
}
