import Type from 'typebox'
import { EvmChain, SolanaChain } from './chain-schema.ts'
import {
  address,
  chainId,
  count,
  decimal,
  flag,
  name,
  range,
  solanaAddress,
  strict,
  text,
  url,
} from './fields.ts'
import { Asset, Discount, InventoryVenue, Pyth, UniswapVenue } from './market-schema.ts'

const Deadlines = Type.Object(
  {
    opLifeSeconds: Type.Optional(
      count('Time from the build until the input can no longer be locked. Default 120.'),
    ),
    lockInclusionSeconds: Type.Optional(count('Time for a lock to be included. Default 60.')),
    fillSeconds: Type.Optional(count('Time to deliver after the lock. Default 600.')),
    cutOffSeconds: Type.Optional(
      count(
        'No delivery is signed this long before the fill deadline; at most half of fillSeconds. Default 60.',
      ),
    ),
    attemptLifeSeconds: Type.Optional(count('Time for a delivery to be included. Default 90.')),
    detectionSeconds: Type.Optional(count('Time to notice a delivery. Default 60.')),
    claimInclusionSeconds: Type.Optional(count('Time for a claim to be included. Default 300.')),
  },
  { ...strict, description: 'Durations in seconds, from which the signed deadlines are computed.' },
)

const Webhooks = Type.Object(
  {
    allowPrivateAddresses: Type.Optional(
      flag('Allows endpoints with plain HTTP and on private addresses, for a local network.'),
    ),
  },
  { ...strict, description: 'How webhook endpoints are called.' },
)

/** Tops up the keys that send transactions. */
const GasFloat = Type.Object(
  {
    evm: Type.Optional(address('Address that pays on EVM chains.')),
    solana: Type.Optional(solanaAddress('Address that pays on Solana.')),
    chains: Type.Array(
      Type.Object(
        {
          chainId: chainId('A chain of this file.'),
          low: decimal('A key with a lower balance is topped up to `target`.'),
          target: decimal('Balance after a top-up.'),
          maxPerDay: decimal('Limit for all keys of the chain together in any 24 hours.'),
        },
        strict,
      ),
      { minItems: 1, description: 'Chains whose keys are topped up. Amounts are whole coins, as strings.' },
    ),
  },
  { ...strict, description: 'Tops up the keys that pay for gas, from addresses that hold only gas coin.' },
)

const urlByChain = (description: string) =>
  Type.Record(Type.String({ pattern: '^[0-9]+$' }), url('URL for the chain with this id.'), { description })

const Web = Type.Object(
  {
    folder: Type.Optional(text('Folder of the built page. Default packages/web/dist, if it exists.')),
    rpcUrls: Type.Optional(
      urlByChain('Nodes from which the page reads balances and to which it sends refunds. Default: none.'),
    ),
    txUrls: Type.Optional(urlByChain('Explorer URLs of transactions, with {hash} as placeholder.')),
    localFile: Type.Optional(text('For a local network: the file with API key and faucet for the page.')),
  },
  { ...strict, description: 'The page at /app.' },
)

const roles = {
  relayers: Type.Array(address('A relayer.'), {
    minItems: 1,
    description: 'Keys that lock inputs and send claims and refunds. Each needs gas on every EVM chain.',
  }),
  authorizationRelayers: Type.Array(address('A relayer.'), {
    minItems: 1,
    description:
      'Keys that lock the first input of a wallet with its authorization, one per transaction, and send nothing else: ' +
      'nodes refuse such a transaction while the wallet has another one pending. Each needs gas on every EVM chain.',
  }),
  deliverers: Type.Array(address('A deliverer.'), {
    minItems: 1,
    description: 'Keys that pay outputs from the vaults. Each needs gas on every EVM chain.',
  }),
  retiring: Type.Optional(
    Type.Array(address('A relayer or deliverer.'), {
      description: 'Relayers and deliverers that get no new work and finish their pending work.',
    }),
  ),
  attester: address('Signs claims and refunds; must be the attester of the escrows.'),
  nextAttester: Type.Optional(
    address('The next attester of the escrows. While set, signatures of both are accepted.'),
  ),
  treasury: Type.Optional(
    address('Owner of inventory and caps, for which contracts are deployed. No process has its key.'),
  ),
}

export const NetworkSchema = Type.Object(
  {
    $schema: Type.Optional(text('Path of docs/config.schema.json, for editors.')),
    network: name('Name of this deployment.'),
    basePath: Type.Optional(
      Type.String({
        pattern: '^(/[A-Za-z0-9_-]+)*$',
        description: 'Mounts the API under a path such as /geoswap. Default none.',
      }),
    ),
    ...roles,
    chains: Type.Array(Type.Union([EvmChain, SolanaChain]), {
      minItems: 1,
      description: 'The served chains.',
    }),
    gasFloat: Type.Optional(GasFloat),
    assets: Type.Array(Asset, {
      minItems: 1,
      description: 'Assets of the tokens, with their price sources.',
    }),
    venues: Type.Optional(
      Type.Array(Type.Union([InventoryVenue, UniswapVenue]), {
        minItems: 1,
        description: 'Delivering venues. Of equal offers the first wins. Default: the inventory only.',
      }),
    ),
    pyth: Type.Optional(Pyth),
    feeCentiBps: Type.Optional(
      range(0, 100_000, 'Service fee, in hundredths of a basis point. Default 1250.'),
    ),
    discount: Type.Optional(Discount),
    highImpactBps: Type.Optional(
      range(1, 10_000, 'Loss above which a quote warns, in basis points. Default 500.'),
    ),
    priceToleranceBps: Type.Optional(
      range(
        1,
        9_999,
        'Price move against you above which a swap is refunded, in basis points, whatever its slippage. ' +
          'It also bounds the gain from a quote sealed with a stolen key. Default: the slippage, at most 1000.',
      ),
    ),
    quoteTtlMs: Type.Optional(range(1, 3_600_000, 'Lifetime of a quote, in milliseconds. Default 30000.')),
    leaseMs: Type.Optional(
      count('How long an unresponsive worker keeps its lanes, in milliseconds. Default 6000.'),
    ),
    deadlines: Type.Optional(Deadlines),
    webhooks: Type.Optional(Webhooks),
    eventDays: Type.Optional(
      range(
        1,
        36_500,
        'How many days the events of ended swaps can be read; the final one stays. Default 90.',
      ),
    ),
    web: Type.Optional(Web),
  },
  strict,
)
