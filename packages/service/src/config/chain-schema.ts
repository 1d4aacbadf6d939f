import Type from 'typebox'
import {
  address,
  chainId,
  count,
  decimal,
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
  'A majority decides: one alone, two must agree, of three one may be down or wrong. Without a majority the chain is ' +
  'down. Write a provider key as a dollar sign and a name in braces: it is read from the environment.'

const coin = { symbol: text('Symbol of the coin.'), asset: text('Name of its asset, one of `assets`.') }
const nativeOf = <T extends Type.TProperties>(fields: T) =>
  Type.Object({ ...coin, ...fields }, { ...strict, description: 'The coin that gas is paid in.' })

// Fields of a chain of either family.
const anyChain = {
  chainId: chainId('The EVM chain id. Solana mainnet is 792703809, devnet 792703810.'),
  name: name('The name of the chain in messages, metrics and commands.'),
  testnet: Type.Optional(
    flag(
      'True for a test network. Test networks and others cannot be mixed in one file: they would share assets.',
    ),
  ),
  rpcUrls: Type.Array(url('A node.'), { minItems: 1, description: `Nodes of API and worker. ${NODES}` }),
  attesterRpcUrls: Type.Array(url('A node.'), {
    minItems: 1,
    description: 'Nodes of the attester, which should be others. A majority decides, as in `rpcUrls`.',
  }),
  finality: Type.Object(
    {
      accept: Type.Array(
        Type.Object(
          {
            belowUsd: Type.Optional(
              count('Applies to inputs worth less than this, in USD. The last entry has no limit.'),
            ),
            depth: count(
              'Depth at which such a lock may be paid for. A depth of `hard` or more waits for finality.',
            ),
          },
          strict,
        ),
        {
          minItems: 1,
          description:
            'Depth from which a lock is paid for, by the value of the input, rising; within `exposureCapUsd`.',
        },
      ),
      settle: count('Depth from which a delivery is reported as settled.'),
      reorgWindowSeconds: count(
        'Seconds a usual reorg takes to include the same bytes again. Not finality. Lengthens the time to lock.',
      ),
      hard: count(
        'Claims, refunds and `failed` wait for the finalized block of the nodes, and at least this depth.',
      ),
      hardSeconds: Type.Optional(
        count(
          'Seconds finality may take. Deadlines use this or the measured time if longer, up to three times. ' +
            'Default: the time of `hard` blocks.',
        ),
      ),
    },
    {
      ...strict,
      description: 'Depths in blocks; 1 is the newest. On Solana 1 is confirmed and `hard` is finalized.',
    },
  ),
  exposureUntil: Type.Optional(
    Type.Union([Type.Literal('safe'), Type.Literal('hard')], {
      description:
        'When a lock stops counting against `exposureCapUsd`: at the safe block of the nodes (on a rollup: its batch ' +
        'is on layer 1), or at finality. Default hard.',
    }),
  ),
  blockMs: count('Usual time between blocks, in milliseconds.'),
  maxHeadAgeMs: Type.Optional(
    count(
      'A head older than this makes the chain down; raise it for chains that miss blocks. ' +
        'Default 15000, or five times blockMs where that is more.',
    ),
  ),
  exposureCapUsd: Type.Optional(
    range(
      0,
      1_000_000_000,
      'USD that may be delivered against locks that are not final (`exposureUntil`). Default 25000; ' +
        '0 always waits for finality.',
    ),
  ),
  unclaimedCapUsd: Type.Optional(
    range(
      0,
      1_000_000_000,
      'USD that may be delivered without a final claim, at least `exposureCapUsd`. Default 250000; ' +
        '0 delivers nothing from this chain.',
    ),
  ),
  callsPerMinute: Type.Optional(
    count(
      'Calls to the nodes of this chain that you pay for, per minute, over all processes. More raise an alarm; ' +
        'nothing is slowed. Default: none.',
    ),
  ),
  maxInFlight: Type.Optional(
    count('Unmined transactions per key; further work waits and is batched. Default 16, on Solana 128.'),
  ),
}

/** The hourly limits that the treasury sets in the contracts. */
const hourlyCaps = {
  capPerHour: Type.Optional(
    decimal(
      'Cap of the vault, in whole coins per hour: `service treasury` sets it. 0 is closed on purpose. ' +
        'Default: as the chain has it, which begins closed.',
    ),
  ),
  claimCapPerHour: Type.Optional(decimal('The same for claims from the escrow.')),
  refundCapPerHour: Type.Optional(
    decimal('The same for refunds before the refund deadline, which attesters sign. Later ones have no cap.'),
  ),
}

/** The service itself keeps this cap, as a contract does elsewhere. */
const payoutCap = {
  capPerHour: Type.Optional(
    decimal(
      'Most that the vault pays out, in whole coins per hour. 0 is closed on purpose. ' +
        'Default: half of what it held at the beginning of the hour.',
    ),
  ),
}

const plain = Type.Optional(
  flag(
    'Whether its transfers move exactly their amount, without a fee: `service treasury` tells the vault, which then ' +
      'pays with less gas. Default: as the chain has it.',
  ),
)

const tokenOf = <T extends Type.TProperties>(at: ReturnType<typeof address>, fields: T) =>
  Type.Object(
    {
      symbol: text('Symbol as the chain reports it; checked at start.'),
      address: at,
      asset: text('Name of its asset, one of `assets`.'),
      decimals: Type.Optional(
        range(0, 36, 'Compared with the chain at start. Needed to start while the chain is down.'),
      ),
      ...fields,
    },
    strict,
  )

const TOKENS = { description: 'Tokens served beside the native coin.' }

export const EvmChain = Type.Object(
  {
    ...anyChain,
    family: Type.Literal('evm', { description: 'A chain with an EVM.' }),
    native: nativeOf(hourlyCaps),
    contracts: Type.Object(
      {
        account: address('GeoAccount, the code that wallets delegate to.'),
        escrow: address('GeoEscrow, which holds inputs.'),
        vault: address('GeoVault, which holds the inventory.'),
      },
      { ...strict, description: 'Contracts as `service deploy` created them.' },
    ),
    olderAccounts: Type.Optional(
      Type.Array(address('A GeoAccount.'), {
        description: 'Earlier GeoAccounts: wallets delegated to them are asked to delegate anew.',
      }),
    ),
    tokens: Type.Array(tokenOf(address('Address with its checksum.'), { ...hourlyCaps, plain }), TOKENS),
    wsUrls: Type.Optional(
      Type.Array(wsUrl('A node.'), {
        minItems: 1,
        description:
          'URLs for `eth_subscribe newHeads`, tried in order. They only say when to read; state comes from `rpcUrls`.',
      }),
    ),
    tipWei: Type.Optional(
      digits('Fixed priority fee, in wei. Default: the median of what the nodes suggest.'),
    ),
    maxTipWei: Type.Optional(
      digits(
        'Upper bound of a suggested priority fee, in wei. ' +
          'Default: twice the base fee, and at least 100000000 (0.1 gwei).',
      ),
    ),
    l1FeeOracle: Type.Optional(
      address('OP stack: the GasPriceOracle, 0x420000000000000000000000000000000000000F. Adds data fees.'),
    ),
    l1Gas: Type.Optional(
      Type.Literal('arbitrum', {
        description:
          'Required for Arbitrum and chains of its stack: posting bytes to L1 is charged as gas, which nodes estimate.',
      }),
    ),
  },
  strict,
)

export const SolanaChain = Type.Object(
  {
    ...anyChain,
    family: Type.Literal('solana', { description: 'A Solana cluster.' }),
    native: nativeOf(payoutCap),
    genesisHash: Type.Optional(text('Genesis hash of the cluster; checked at start.')),
    program: solanaAddress('The escrow program, as `service deploy` uploaded it.'),
    vault: solanaAddress(
      'Authority of the accounts that pay deliveries and receive claims. Its own lamports are the native coin.',
    ),
    attester: solanaAddress('Key that signs claims and early refunds on this chain.'),
    feePayers: Type.Object(
      {
        input: solanaAddress('Pays fees of inputs, claims and refunds, and the rent of escrow accounts.'),
        delivery: solanaAddress('Pays fees of deliveries, and the rent of their markers.'),
      },
      { ...strict, description: 'Fee payers. They hold SOL and own no token account of a served mint.' },
    ),
    tokens: Type.Array(tokenOf(solanaAddress('Address of the mint.'), payoutCap), TOKENS),
    priorityPrice: Type.Optional(
      Type.Object(
        { floor: digits('Lower bound. Default 1000.'), cap: digits('Upper bound. Default 1000000.') },
        {
          ...strict,
          description:
            'Bounds of the priority price, in millionths of a lamport per compute unit. ' +
            'Between them it is what three of four recent blocks accepted.',
        },
      ),
    ),
  },
  strict,
)
