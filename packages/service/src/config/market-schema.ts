import Type from 'typebox'
import { address, chainId, count, decimal, flag, range, strict, text, url } from './fields.ts'

const ChainlinkFeed = Type.Object(
  {
    kind: Type.Literal('chainlink', { description: 'An aggregator with latestRoundData, priced in USD.' }),
    chainId: chainId('On which of the EVM chains of this file.'),
    address: address('Of the feed.'),
    maxAgeSeconds: count('Older answers are not used: a little more than its heartbeat.'),
    description: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'What the feed says it is, where that is not the name of the asset and ` / USD`.',
      }),
    ),
  },
  strict,
)

const PythFeed = Type.Object(
  {
    kind: Type.Literal('pyth', { description: 'A feed of the Hermes server that `pyth` names.' }),
    feedId: Type.String({
      pattern: '^0x[0-9a-f]{64}$',
      description: '0x and 64 lower-case hex digits, priced in USD.',
    }),
    maxAgeSeconds: count('Older answers are not used.'),
    description: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'What the server calls it, where that is not `Crypto.`, the name of the asset and `/USD`.',
      }),
    ),
    maxConfidenceBps: Type.Optional(
      count('An update whose interval is wider is not used, in basis points. Default 100.'),
    ),
  },
  strict,
)

export const Asset = Type.Object(
  {
    name: text('What tokens of several chains are the same of.'),
    usdStable: Type.Optional(
      flag('Meant to be worth a dollar: swaps among such assets have a smaller slippage by default.'),
    ),
    sources: Type.Array(Type.Union([ChainlinkFeed, PythFeed]), {
      minItems: 1,
      description: 'The price is the median of the live ones.',
    }),
    maxDeviationBps: Type.Optional(
      range(1, 9_999, 'How far a live source may be from the median, in basis points. Default 200.'),
    ),
    minSources: Type.Optional(count('With fewer live sources there is no price. Default 1.')),
  },
  strict,
)

export const Pyth = Type.Object(
  {
    url: url('Without /v2/….'),
    pollMs: Type.Optional(count('How often it is asked, in milliseconds. Default 2000.')),
  },
  { ...strict, description: 'The Hermes server that the sources of kind `pyth` are read from.' },
)

// `Type.Tuple` would be written in a form that draft 2020-12 no longer has.
const pair = (description: string) =>
  Type.Unsafe<[string, string]>(Type.Array(Type.String(), { minItems: 2, maxItems: 2, description }))
const bps = (description: string) => range(0, 2_000, description)

/** The operator's own liquidity. Spread and twice the impact stay far below the whole: the curve has to rise. */
export const InventoryVenue = Type.Object(
  {
    kind: Type.Literal('inventory', { description: 'What the vaults hold.' }),
    spreadBps: Type.Optional(bps('Kept of every swap, in basis points. Default 0.')),
    impactBps: Type.Optional(
      bps('What taking the whole inventory of a token costs beyond the spread, in basis points. Default 50.'),
    ),
    pairs: Type.Optional(
      Type.Array(
        Type.Object(
          {
            assets: pair('Two assets, either way round.'),
            spreadBps: bps('In basis points.'),
          },
          strict,
        ),
        { description: 'Pairs with a spread of their own.' },
      ),
    ),
    limits: Type.Optional(
      Type.Array(
        Type.Object(
          {
            chainId: Type.Optional(chainId('On this chain. Default every one.')),
            asset: Type.Optional(text('Of this asset. Default every one.')),
            maxUsd: count('In US dollars.'),
          },
          strict,
        ),
        { description: 'The most that one swap may take, by chain, asset or both.' },
      ),
    ),
  },
  strict,
)

/** Outputs bought from pools of one chain, in the transaction that delivers them. */
export const UniswapVenue = Type.Object(
  {
    kind: Type.Literal('uniswap-v3', {
      description: 'Pools that outputs are bought from as they are delivered.',
    }),
    chainId: chainId('Of the pools.'),
    quoter: address('The QuoterV2 of the pools.'),
    adapter: address('Ours, as `service deploy` created it; the vault has to allow it.'),
    pools: Type.Array(
      Type.Object(
        {
          sell: address('What the vault holds and pays with.'),
          buy: address('What is delivered.'),
          fee: count('Of the pool, in millionths.'),
        },
        strict,
      ),
      { minItems: 1, description: 'What may be bought with what.' },
    ),
  },
  strict,
)

const Tier = Type.Object(
  {
    name: Type.String({ minLength: 1, description: 'As a quote calls it.' }),
    holding: decimal('From how many whole tokens on.'),
    percent: range(1, 100, 'How much less the fee is.'),
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
          'From the lowest to the highest. Default bronze 1000 10, silver 10000 25, gold 100000 50.',
      }),
    ),
    maxAgeSeconds: Type.Optional(count('A holding that was read longer ago earns nothing. Default 60.')),
  },
  { ...strict, description: 'Lower fees for wallets that hold your token. Without it there are none.' },
)
