import { geoEscrowAbi } from '@geoswap/protocol'
import type { Address } from 'viem'
import { findAttesterChange } from '../../model/attester-set.ts'
import type { Heads } from '../chain.ts'
import type { ChainState, PoolCurve, ViewReader } from '../view.ts'
import { readAttesterSets, readProposedSet } from './attesters.ts'
import type { EvmClients } from './client.ts'
import { createFeedReader, type ExpectedFeed } from './feeds.ts'
import { type PriceReader, readLegCosts } from './fees.ts'
import { readHoldings } from './reads.ts'
import type { EvmChainSettings } from './settings.ts'
import type { EvmVenue } from './venue.ts'

type Options = {
  clients: Pick<EvmClients, 'gathered'>
  settings: EvmChainSettings
  prices: PriceReader
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
    readCosts: (at) => readLegCosts(options.prices, at),
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
      return { rounds, balances, holdings, claimCaps, seconds, ...(attesterChange && { attesterChange }) }
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
