import Type from 'typebox'
import {
  address,
  chainId,
  count,
  digits,
  flag,
  name,
  range,
  solanaAddress,
  strict,
  text,
  url,
  wsUrl,
} from './fields.ts'

const NODES =
  'One or several. Decisions about money need a majority. Put no keys here: ' +
  'a dollar sign and a name in braces is replaced from the environment.'

// Fields of every chain family.
const anyChain = {
  chainId: chainId('The id of an EVM chain. For Solana 792703809, or another number for another cluster.'),
  name: name('The name in messages, metrics and commands.'),
  testnet: Type.Optional(
    flag('A test network, whose coins have no value. Either all chains of a file are test networks or none.'),
  ),
  rpcUrls: Type.Array(url('A node.'), { minItems: 1, description: `Nodes of API and worker. ${NODES}` }),
  attesterRpcUrls: Type.Array(url('A node.'), {
    minItems: 1,
    description: `Nodes of the attester, preferably different ones. ${NODES}`,
  }),
  native: Type.Object(
    { symbol: text('Symbol of the coin.'), asset: text('The name of its asset: one of `assets`.') },
    { ...strict, description: 'The coin that gas is paid in.' },
  ),
  finality: Type.Object(
    {
      accept: Type.Array(
        Type.Object(
          {
            belowUsd: Type.Optional(count('For inputs below this value in USD; the last entry has none.')),
            depth: count('Depth at which such a lock may be delivered against.'),
          },
          strict,
        ),
        {
          minItems: 1,
          description: 'Depths at which locks are delivered against, by value, within `exposureCapUsd`.',
        },
      ),
      settle: count('Depth at which a delivery is reported as settled.'),
      reorgWindowSeconds: count(
        'Time to include a lock again after a common reorg, in seconds. Shorter than finality.',
      ),
      hard: count(
        'Claims, refunds and `failed` wait for a block that is finalized by the node and at least this deep.',
      ),
      hardSeconds: Type.Optional(
        count(
          'Longest usual time to finality, in seconds; deadlines allow for it. Default: the time of `hard` blocks.',
        ),
      ),
    },
    {
      ...strict,
      description:
        'Depths in blocks; the newest block has depth 1. On Solana 1 is confirmed, and `hard` is finalized.',
    },
  ),
  exposureUntil: Type.Optional(
    Type.Union([Type.Literal('safe'), Type.Literal('hard')], {
      description:
        'How long a lock counts against `exposureCapUsd`: until its block is safe by the node (for a rollup: ' +
        'its batch is on layer 1), or until it is final. Default hard.',
    }),
  ),
  blockMs: count('Usual time between blocks, in milliseconds.'),
  maxHeadAgeMs: Type.Optional(
    count(
      'Maximum age of the head in milliseconds; beyond it the chain is down. Default 15000, or five times blockMs if higher.',
    ),
  ),
  exposureCapUsd: Type.Optional(
    range(
      0,
      1_000_000_000,
      'Cap on value delivered against locks that are not hard-final, in USD. Default 25000; 0 always waits.',
    ),
  ),
  unclaimedCapUsd: Type.Optional(
    range(
      0,
      1_000_000_000,
      'Cap on delivered value that is not finally claimed, in USD. Default 250000; 0 disables the chain as origin.',
    ),
  ),
  maxInFlight: Type.Optional(
    count('Unmined transactions per sending key; further work waits and is batched. Default 16.'),
  ),
}

const tokenOf = (at: ReturnType<typeof address>) =>
  Type.Object(
    {
      symbol: text('Symbol on the chain; checked at start.'),
      address: at,
      asset: text('The name of its asset: one of `assets`.'),
      decimals: Type.Optional(
        range(0, 36, 'Expected decimals, checked at start. Amounts use the decimals on the chain.'),
      ),
    },
    strict,
  )

const TOKENS = { description: 'Tokens served besides the native coin.' }

export const EvmChain = Type.Object(
  {
    ...anyChain,
    family: Type.Literal('evm', { description: 'An EVM chain.' }),
    contracts: Type.Object(
      {
        account: address('GeoAccount: wallets delegate to it.'),
        escrow: address('GeoEscrow: holds inputs.'),
        vault: address('GeoVault: holds inventory.'),
      },
      { ...strict, description: 'The contracts that `service deploy` created.' },
    ),
    olderAccounts: Type.Optional(
      Type.Array(address('A GeoAccount.'), {
        description:
          'Previous delegates of yours: wallets that use them are asked to upgrade, never refused.',
      }),
    ),
    tokens: Type.Array(tokenOf(address('Address with its checksum.')), TOKENS),
    wsUrls: Type.Optional(
      Type.Array(wsUrl('A node.'), {
        minItems: 1,
        description:
          'Nodes that notify the worker of new heads (`eth_subscribe`), so that it polls less. ' +
          'They only decide when to read; the data comes from the nodes of `rpcUrls`.',
      }),
    ),
    tipWei: Type.Optional(digits('Fixed priority fee, in wei. Default: the nodes suggest one.')),
    maxTipWei: Type.Optional(
      digits(
        'Upper bound for the priority fee that nodes suggest, in wei. ' +
          'Default: twice the base fee, and at least 100000000.',
      ),
    ),
    l1FeeOracle: Type.Optional(
      address('GasPriceOracle of an OP-stack chain, 0x420000000000000000000000000000000000000F.'),
    ),
    l1Gas: Type.Optional(
      Type.Literal('arbitrum', {
        description:
          'For Arbitrum and chains of its stack: L1 data is charged as gas, which the nodes estimate.',
      }),
    ),
  },
  strict,
)

export const SolanaChain = Type.Object(
  {
    ...anyChain,
    family: Type.Literal('solana', { description: 'A Solana cluster.' }),
    genesisHash: Type.Optional(text('Genesis hash of the cluster; checked at start.')),
    vaults: Type.Object(
      {
        intake: solanaAddress('Owner of the accounts that receive inputs.'),
        inventory: solanaAddress('Owner of the accounts that pay deliveries.'),
      },
      {
        ...strict,
        description:
          'The authorities that own the token accounts of the vaults; their lamports are the native coin.',
      },
    ),
    feePayers: Type.Object(
      {
        input: solanaAddress('Pays for inputs, claims and refunds.'),
        delivery: solanaAddress('Pays for deliveries.'),
      },
      { ...strict, description: 'Addresses that pay for transactions and own nothing else.' },
    ),
    tokens: Type.Array(tokenOf(solanaAddress('Address of the mint.')), TOKENS),
    priorityPrice: Type.Optional(
      Type.Object(
        { floor: digits('Lower bound. Default 1000.'), cap: digits('Upper bound. Default 1000000.') },
        {
          ...strict,
          description: 'Bounds of the priority fee, in micro-lamports per compute unit.',
        },
      ),
    ),
  },
  strict,
)
