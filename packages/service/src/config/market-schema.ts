import Type from 'typebox'
import { address, chainId, count, decimal, flag, range, strict, text, url } from './fields.ts'

const ChainlinkFeed = Type.Object(
  {
    kind: Type.Literal('chainlink', { description: 'An aggregator with latestRoundData, priced in USD.' }),
    chainId: chainId('The EVM chain of the feed, from this file.'),
    address: address('Address of the feed.'),
    maxAgeSeconds: count('Maximum age of an answer: slightly more than the heartbeat of the feed.'),
    description: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'The description of the feed, if it is not the name of the asset and ` / USD`.',
      }),
    ),
  },
  strict,
)

const PythFeed = Type.Object(
  {
    kind: Type.Literal('pyth', { description: 'A feed of the Hermes server in `pyth`.' }),
    feedId: Type.String({
      pattern: '^0x[0-9a-f]{64}$',
      description: '0x and 64 lower-case hex digits, priced in USD.',
    }),
    maxAgeSeconds: count('Maximum age of an answer.'),
    description: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'The name of the feed on the server, if it is not `Crypto.`, the name of the asset and `/USD`.',
      }),
    ),
    maxConfidenceBps: Type.Optional(
      count('Maximum confidence interval to either side, in basis points of the price. Default 100.'),
    ),
  },
  strict,
)

export const Asset = Type.Object(
  {
    name: text('Name shared by equivalent tokens on several chains.'),
    usdStable: Type.Optional(
      flag('A dollar stablecoin: swaps among such assets have a smaller default slippage.'),
    ),
    sources: Type.Array(Type.Union([ChainlinkFeed, PythFeed]), {
      minItems: 1,
      description: 'Price sources. The price is the median of the live ones.',
    }),
    maxDeviationBps: Type.Optional(
      range(1, 9_999, 'Maximum deviation of a live source from the median, in basis points. Default 200.'),
    ),
    minSources: Type.Optional(count('Minimum number of live sources for a price. Default 1.')),
  },
  strict,
)

export const Pyth = Type.Object(
  {
    url: url('Without /v2/….'),
    pollMs: Type.Optional(count('Polling interval, in milliseconds. Default 2000.')),
  },
  { ...strict, description: 'The Hermes server of the sources of kind `pyth`.' },
)

// `Type.Tuple` uses a form that draft 2020-12 no longer has.
const pair = (description: string) =>
  Type.Unsafe<[string, string]>(Type.Array(Type.String(), { minItems: 2, maxItems: 2, description }))
const bps = (description: string) => range(0, 2_000, description)

/** The operator's own liquidity. Spread plus twice the impact stays far below 100 %, so that the curve rises. */
export const InventoryVenue = Type.Object(
  {
    kind: Type.Literal('inventory', { description: 'The inventory of the vaults.' }),
    spreadBps: Type.Optional(bps('Charged on every swap of two assets, in basis points. Default 0.')),
    impactBps: Type.Optional(
      bps('Additional cost of taking the whole inventory of a token, in basis points. Default 50.'),
    ),
    pairs: Type.Optional(
      Type.Array(
        Type.Object(
          {
            assets: pair('Two assets, in any order.'),
            spreadBps: bps('Spread in basis points.'),
          },
          strict,
        ),
        { description: 'Pairs with their own spread.' },
      ),
    ),
    limits: Type.Optional(
      Type.Array(
        Type.Object(
          {
            chainId: Type.Optional(chainId('The limited chain. Default: every chain.')),
            asset: Type.Optional(text('The limited asset. Default: every asset.')),
            maxUsd: count('The limit in US dollars.'),
          },
          strict,
        ),
        { description: 'The most that one swap may take, by chain, asset or both.' },
      ),
    ),
  },
  strict,
)

/** Outputs bought from pools of one chain, in the delivery transaction. */
export const UniswapVenue = Type.Object(
  {
    kind: Type.Literal('uniswap-v3', {
      description: 'Pools from which outputs are bought in the delivery transaction.',
    }),
    chainId: chainId('The chain of the pools.'),
    quoter: address('The QuoterV2 contract of the pools.'),
    adapter: address('The adapter that `service deploy` created; the vault has to allow it.'),
    pools: Type.Array(
      Type.Object(
        {
          sell: address('The token that the vault holds and sells.'),
          buy: address('The token that is bought and delivered.'),
          fee: count('Fee of the pool, in millionths.'),
        },
        strict,
      ),
      { minItems: 1, description: 'Pools that may be used.' },
    ),
  },
  strict,
)

const Tier = Type.Object(
  {
    name: Type.String({ minLength: 1, description: 'Name of the tier in quotes.' }),
    holding: decimal('Minimum holding, in whole tokens.'),
    percent: range(1, 100, 'Fee reduction in percent.'),
  },
  strict,
)

export const Discount = Type.Object(
  {
    asset: text('The asset of your token, on at least one chain.'),
    tiers: Type.Optional(
      Type.Array(Tier, {
        minItems: 1,
        description:
          'Tiers from the lowest to the highest. Default bronze 1000 10, silver 10000 25, gold 100000 50.',
      }),
    ),
    maxAgeSeconds: Type.Optional(count('Maximum age of a holding that earns a discount. Default 60.')),
  },
  { ...strict, description: 'Lower fees for wallets that hold your token. Default: none.' },
)
