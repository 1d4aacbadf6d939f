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
      count('From the build until the input can no longer be locked. Default 120.'),
    ),
    lockInclusionSeconds: Type.Optional(count('What a lock may need to get into a block. Default 60.')),
    fillSeconds: Type.Optional(count('How long a locked input can be delivered for. Default 600.')),
    cutOffSeconds: Type.Optional(
      count('So long before that end nothing is signed any more; at most half of it. Default 60.'),
    ),
    attemptLifeSeconds: Type.Optional(count('What a delivery may need to get into a block. Default 90.')),
    detectionSeconds: Type.Optional(count('What seeing it may take. Default 60.')),
    claimInclusionSeconds: Type.Optional(count('What a claim may need to get into a block. Default 300.')),
  },
  { ...strict, description: 'In seconds. What a wallet signs is made of them.' },
)

const Webhooks = Type.Object(
  {
    allowPrivateAddresses: Type.Optional(
      flag('Also calls endpoints by plain HTTP and on private addresses: for a network on one machine.'),
    ),
  },
  { ...strict, description: 'How endpoints of accounts are called.' },
)

/** Keeps the keys that send transactions in gas coin. */
const GasFloat = Type.Object(
  {
    evm: Type.Optional(address('Pays on EVM chains.')),
    solana: Type.Optional(solanaAddress('Pays on Solana.')),
    chains: Type.Array(
      Type.Object(
        {
          chainId: chainId('Of a chain of this file.'),
          low: decimal('A key that holds less is filled up to `target`.'),
          target: decimal('In whole coins.'),
          maxPerDay: decimal('In any 24 hours, for all keys of the chain together.'),
        },
        strict,
      ),
      { minItems: 1, description: 'Where keys are filled up. Amounts are whole coins, as text.' },
    ),
  },
  { ...strict, description: 'Tops up the keys that pay for gas, from addresses that hold gas coin alone.' },
)

const urlByChain = (description: string) =>
  Type.Record(Type.String({ pattern: '^[0-9]+$' }), url('Of the chain with this id.'), { description })

const Web = Type.Object(
  {
    folder: Type.Optional(text('Where the built page is. Default packages/web/dist, if it is there.')),
    rpcUrls: Type.Optional(
      urlByChain(
        'Nodes that the page may read balances from and send a refund to; it reads no chain without.',
      ),
    ),
    txUrls: Type.Optional(urlByChain('Where a transaction can be looked at, with {hash} in its place.')),
    localFile: Type.Optional(
      text('Of a network on one machine: the file that tells the page on that machine its key and faucet.'),
    ),
  },
  { ...strict, description: 'The page at /app.' },
)

const roles = {
  relayers: Type.Array(address('A relayer.'), {
    minItems: 1,
    description: 'Lock inputs and send claims and refunds. Each needs gas on every EVM chain.',
  }),
  authorizationRelayers: Type.Array(address('A relayer.'), {
    minItems: 1,
    description:
      'Lock the first input of a wallet, with its authorization, one in each transaction, and send nothing else: ' +
      'nodes refuse such a transaction for what the wallet has in flight. Each needs gas on every EVM chain.',
  }),
  deliverers: Type.Array(address('A deliverer.'), {
    minItems: 1,
    description: 'Pay outputs from the vaults. Each needs gas on every EVM chain.',
  }),
  retiring: Type.Optional(
    Type.Array(address('One of them.'), {
      description: 'Of all relayers and deliverers, those that get nothing new and finish what they began.',
    }),
  ),
  attester: address('Signs what is claimed and refunded, as the escrows have it.'),
  nextAttester: Type.Optional(
    address(
      'Who the escrows are about to have instead. While it is here, what either of them signed is taken.',
    ),
  ),
  treasury: Type.Optional(
    address('Owns inventory and caps. Contracts are deployed for it; its key belongs to no process.'),
  ),
}

export const NetworkSchema = Type.Object(
  {
    $schema: Type.Optional(text('For editors: docs/config.schema.json of this project.')),
    network: name('How this deployment is called.'),
    basePath: Type.Optional(
      Type.String({
        pattern: '^(/[A-Za-z0-9_-]+)*$',
        description: 'Mounts the API under a path such as /geoswap. Default none.',
      }),
    ),
    ...roles,
    chains: Type.Array(Type.Union([EvmChain, SolanaChain]), { minItems: 1, description: 'What is served.' }),
    gasFloat: Type.Optional(GasFloat),
    assets: Type.Array(Asset, {
      minItems: 1,
      description: 'What tokens are of, and where prices come from.',
    }),
    venues: Type.Optional(
      Type.Array(Type.Union([InventoryVenue, UniswapVenue]), {
        minItems: 1,
        description: 'Who delivers, the first one where two give the same. Default: the inventory alone.',
      }),
    ),
    pyth: Type.Optional(Pyth),
    feeCentiBps: Type.Optional(
      range(0, 100_000, 'Service fee, in hundredths of a basis point. Default 1250.'),
    ),
    discount: Type.Optional(Discount),
    highImpactBps: Type.Optional(
      range(1, 10_000, 'Loss from which a quote warns, in basis points. Default 500.'),
    ),
    priceToleranceBps: Type.Optional(
      range(
        1,
        9_999,
        'How far the market may move against you before a swap goes back, in basis points, whatever its slippage. ' +
          'As much can a quote gain that is sealed with a stolen key. Default: the slippage, at most 1000.',
      ),
    ),
    quoteTtlMs: Type.Optional(range(1, 3_600_000, 'Life of a quote, in milliseconds. Default 30000.')),
    leaseMs: Type.Optional(
      count('How long a worker that is silent keeps its lanes, in milliseconds. Default 6000.'),
    ),
    deadlines: Type.Optional(Deadlines),
    webhooks: Type.Optional(Webhooks),
    eventDays: Type.Optional(
      range(
        1,
        36_500,
        'How long the changes of swaps that are over can be read; their end stays. Default 90.',
      ),
    ),
    web: Type.Optional(Web),
  },
  strict,
)
