import { geoEscrowAbi } from '@geoswap/protocol'
import type { Address } from 'viem'
import type { Heads } from '../chain.ts'
import type { ChainState, PoolCurve, ViewReader } from '../view.ts'
import type { EvmClients } from './client.ts'
import { createFeedReader } from './feeds.ts'
import { type PriceReader, readLegCosts } from './fees.ts'
import { readHoldings } from './reads.ts'
import type { EvmChainSettings } from './settings.ts'
import { quoteExactInput } from './uniswap-v3.ts'

type Options = {
  clients: Pick<EvmClients, 'gathered'>
  settings: EvmChainSettings
  prices: PriceReader
  /** The keys whose native balances are read. */
  keys: readonly string[]
  feeds: readonly Address[]
  /** Decimals of the tokens sold to pools, in which sizes are counted. */
  decimalsOf(token: Address): Promise<number>
}

// In whole units of the sold token, a stablecoin of the vault: from a first swap to a large one.
const SIZES = [1n, 10n, 100n, 1_000n, 5_000n, 20_000n, 50_000n, 100_000n, 250_000n]

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
      const [rounds, balances, holdings, claimCaps] = await Promise.all([
        readRounds(head.number),
        readCoins(head.number),
        readHoldings(agreed, settings, head),
        readClaimCaps(head.number),
      ])
      return { rounds, balances, holdings, claimCaps, seconds: head.seconds }
    },
    readPools: ({ head }) => readCurves(options, head.number),
  }
}

async function entriesOf(names: readonly string[], read: (name: string) => Promise<bigint>) {
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await read(name)] as const)))
}

async function readCurves(options: Options, blockNumber: bigint): Promise<PoolCurve[]> {
  const { uniswap } = options.settings
  if (!uniswap) return []
  const units = await Promise.all(
    uniswap.pools.map(async ({ sell }) => 10n ** BigInt(await options.decimalsOf(sell))),
  )
  return Promise.all(
    uniswap.pools.map(async ({ sell, buy, fee }, pool) => {
      const asked = { quoter: uniswap.quoter, tokenIn: sell, tokenOut: buy, fee, blockNumber }
      const points = await Promise.all(
        SIZES.map(async (size) => {
          const sold = size * (units[pool] ?? 1n)
          const bought = await quoteExactInput(options.clients.gathered.agreed, { ...asked, amountIn: sold })
          return bought === undefined ? [] : [{ sold, bought }]
        }),
      )
      return { sell, buy, points: points.flat() }
    }),
  )
}
