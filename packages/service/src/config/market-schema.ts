import Type from 'typebox'
import { address, chainId, count, decimal, flag, range, strict, text, url } from './fields.ts'

const ChainlinkFeed = Type.Object(
  {
    kind: Type.Literal('chainlink', {
      description: 'An aggregator with decimals, description and latestRoundData, priced in USD.',
    }),
    chainId: chainId('The EVM chain of the feed, one of this file.'),
    address: address('Address of the feed.'),
    maxAgeSeconds: count(
      'Older answers are not used: its heartbeat and a little more, by the time of its chain.',
    ),
    description: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'Description of the feed. Default: the name of the asset and ` / USD`.',
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
          'Symbol of the feed at the server. Default: `Crypto.`, the name of the asset and `/USD`.',
      }),
    ),
    maxConfidenceBps: Type.Optional(
      count('Updates with a wider confidence interval are not used, in basis points. Default 100.'),
    ),
  },
  strict,
)

export const Asset = Type.Object(
  {
    name: text('Name of the asset, which its tokens on several chains share.'),
    usdStable: Type.Optional(
      flag(
        'Pegged to the US dollar: swaps between two such assets have a default slippage of 50 instead of 300.',
      ),
    ),
    sources: Type.Array(Type.Union([ChainlinkFeed, PythFeed]), {
      minItems: 1,
      description: 'Price sources; the price is the median of the live ones.',
    }),
    maxDeviationBps: Type.Optional(
      range(
        1,
        9_999,
        'Largest distance of a source from the median, in basis points; keep it above the deviation thresholds of ' +
          'the feeds. Default 200.',
      ),
    ),
    minSources: Type.Optional(count('With fewer live sources there is no price. Default 1.')),
  },
  strict,
)

export const Pyth = Type.Object(
  {
    url: url('URL without /v2/….'),
    pollMs: Type.Optional(
      count('Interval of requests by each API process and worker, in milliseconds. Default 2000.'),
    ),
  },
  { ...strict, description: 'The Hermes server for sources of kind `pyth`.' },
)

const largestMove = (pairs: string, defaultBps: number) =>
  Type.Optional(range(0, 9_999, `${pairs}, in basis points. Default ${defaultBps}.`))

export const PriceTolerance = Type.Object(
  {
    sameAssetBps: largestMove('Between tokens of one asset', 10),
    stableBps: largestMove('Between two assets with `usdStable`', 10),
    volatileBps: largestMove('Between other assets', 10),
    lockedBps: largestMove(
      'Of any pair after the lock; beyond it the input is refunded with PRICE_MOVED',
      300,
    ),
  },
  {
    ...strict,
    description:
      'Largest move against you from quote to lock. Beyond it the output follows the market down to `minOutput`, and ' +
      'below that the swap fails with PRICE_MOVED. At most the service fee of a swap counts, or callers who wait ' +
      'would gain. Also bounds the gain from a stolen seal key.',
  },
)

const Tier = Type.Object(
  {
    name: Type.String({ minLength: 1, description: 'Name of the tier in a quote.' }),
    holding: decimal('Smallest holding, in whole tokens.'),
    percent: range(1, 100, 'Discount on the service fee, in percent.'),
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
          'Tiers, rising in holding and percent. Default bronze 1000 10, silver 10000 25, gold 100000 50.',
      }),
    ),
    maxAgeSeconds: Type.Optional(
      count('Holdings read longer ago earn no discount; at half that age they are read again. Default 60.'),
    ),
  },
  { ...strict, description: 'Lower fees for wallets that hold your token. Default: no discounts.' },
)

const centiBps = (of: string) => range(0, 100_000, `${of}, in hundredths of a basis point.`)
/** `defaultOf` writes the default of a class into its description. */
const classFees = (defaultOf: (centiBps: number) => string) => ({
  sameAssetCentiBps: Type.Optional(centiBps(`Between tokens of one asset${defaultOf(50)}`)),
  peggedCentiBps: Type.Optional(centiBps(`Between assets with \`usdStable\`${defaultOf(100)}`)),
  stableToVolatileCentiBps: Type.Optional(
    centiBps(`Between an asset with \`usdStable\` and another${defaultOf(800)}`),
  ),
  volatileCentiBps: Type.Optional(centiBps(`Between other assets${defaultOf(800)}`)),
})

const RouteFee = Type.Object(
  {
    originChain: Type.Optional(chainId('Default: every chain.')),
    destinationChain: Type.Optional(chainId('Default: every chain.')),
    inputAsset: Type.Optional(text('Default: every asset.')),
    outputAsset: Type.Optional(text('Default: every asset.')),
    centiBps: centiBps('Fee'),
  },
  strict,
)

const AccountFees = Type.Object(
  {
    account: text('Id of the account, as `api-key list` shows it.'),
    ...classFees(() => ''),
    maxIntegratorCentiBps: Type.Optional(
      range(
        0,
        10_000,
        'The most that the account may add for itself, in hundredths of a basis point. Default 0.',
      ),
    ),
  },
  strict,
)

export const Fees = Type.Object(
  {
    ...classFees((centiBps) => ` (default ${centiBps})`),
    floorCentiBps: Type.Optional(
      centiBps('What discounts leave at least; a lower fee of a class stays as it is. Default 20'),
    ),
    routes: Type.Optional(
      Type.Array(RouteFee, {
        description: 'Fees of routes, in place of that of the class. The first match counts.',
      }),
    ),
    accounts: Type.Optional(
      Type.Array(AccountFees, { description: 'Fees of accounts, in place of those of class and route.' }),
    ),
  },
  {
    ...strict,
    description:
      'Service fees by class of pair. Stable assets more than 50 basis points apart count as volatile. ' +
      'Network costs are charged besides, without discount.',
  },
)

const Target = Type.Object(
  {
    chainId: chainId('A chain of this file.'),
    asset: text('An asset with a token there.'),
    shareBps: range(0, 10_000, 'Its part of all holdings of the asset, in basis points.'),
  },
  strict,
)

export const Rebalancing = Type.Object(
  {
    maxCentiBps: Type.Optional(
      range(
        0,
        10_000,
        'Paid by a swap that takes the last of an asset on a chain, in hundredths of a basis point. Default 500.',
      ),
    ),
    targets: Type.Optional(
      Type.Array(Target, { description: 'Where the holdings belong. Default: the same on every chain.' }),
    ),
  },
  {
    ...strict,
    description:
      'Prices assets of which a vault holds less than half of its target: taking them costs more, and bringing them ' +
      'less, down to `fees.floorCentiBps`. Default: off.',
  },
)
