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
  'One or several: what money follows from is what a majority of them says. No keys here: ' +
  'a dollar sign and a name in braces is filled in from the environment.'

// What every chain says of itself, whatever its family.
const anyChain = {
  chainId: chainId('Of an EVM chain its own id. Of Solana 792703809, or another number for another cluster.'),
  name: name('How messages, metrics and commands call it.'),
  testnet: Type.Optional(
    flag('Its coins are worth nothing. Either all chains of a file are such, or none: assets are the same.'),
  ),
  rpcUrls: Type.Array(url('A node.'), { minItems: 1, description: `Nodes of API and worker. ${NODES}` }),
  attesterRpcUrls: Type.Array(url('A node.'), {
    minItems: 1,
    description: `Nodes of the attester, which should be others. ${NODES}`,
  }),
  native: Type.Object(
    { symbol: text('Of the coin.'), asset: text('The name of its asset: one of `assets`.') },
    { ...strict, description: 'The coin that gas is paid in.' },
  ),
  finality: Type.Object(
    {
      accept: Type.Array(
        Type.Object(
          {
            belowUsd: Type.Optional(count('For inputs worth less than this; the last entry has none.')),
            depth: count('Depth at which such a lock may be paid for.'),
          },
          strict,
        ),
        {
          minItems: 1,
          description: 'From where on a lock is paid for, by its value, within `exposureCapUsd`.',
        },
      ),
      settle: count('From here on a delivery is reported as settled.'),
      reorgWindowSeconds: count(
        'How long a reorg of the usual kind takes to include a lock again. Not finality.',
      ),
      hard: count(
        'Claims, refunds and `failed` wait for the block that the node calls finalized, and at least this deep.',
      ),
      hardSeconds: Type.Optional(
        count('How long finality may take: deadlines count with it. Default: the time of `hard` blocks.'),
      ),
    },
    {
      ...strict,
      description: 'Depths in blocks, 1 is the newest. On Solana 1 is confirmed, and `hard` is finalized.',
    },
  ),
  exposureUntil: Type.Optional(
    Type.Union([Type.Literal('safe'), Type.Literal('hard')], {
      description:
        'Until when a lock counts against `exposureCapUsd`: until the node calls its block safe (of a rollup: ' +
        'its batch is on layer 1), or until it is final. Default hard.',
    }),
  ),
  blockMs: count('Usual time between blocks, in milliseconds.'),
  maxHeadAgeMs: Type.Optional(
    count('A head older than this counts as down. Default 15000, or five times blockMs where that is more.'),
  ),
  exposureCapUsd: Type.Optional(
    range(
      0,
      1_000_000_000,
      'Value that may be delivered against locks that are not hard-final yet. Default 25000; 0 always waits.',
    ),
  ),
  unclaimedCapUsd: Type.Optional(
    range(
      0,
      1_000_000_000,
      'Value that may be delivered and not yet claimed for good. Default 250000; 0 delivers nothing from here.',
    ),
  ),
  maxInFlight: Type.Optional(
    count('Unmined transactions per sending key; further work waits and is batched. Default 16.'),
  ),
}

const tokenOf = (at: ReturnType<typeof address>) =>
  Type.Object(
    {
      symbol: text('As the chain has it; checked at start.'),
      address: at,
      asset: text('The name of its asset: one of `assets`.'),
      decimals: Type.Optional(
        range(0, 36, 'What the chain has to say, checked at start; amounts are counted in what it says.'),
      ),
    },
    strict,
  )

const TOKENS = { description: 'What is served beside the native coin.' }

export const EvmChain = Type.Object(
  {
    ...anyChain,
    family: Type.Literal('evm', { description: 'Of the EVM.' }),
    contracts: Type.Object(
      {
        account: address('GeoAccount: what wallets delegate to.'),
        escrow: address('GeoEscrow: holds inputs.'),
        vault: address('GeoVault: holds inventory.'),
      },
      { ...strict, description: 'As `service deploy` created them.' },
    ),
    olderAccounts: Type.Optional(
      Type.Array(address('A GeoAccount.'), {
        description: 'Delegates of yours from before: wallets on them are asked to move on, never refused.',
      }),
    ),
    tokens: Type.Array(tokenOf(address('With its checksum.')), TOKENS),
    wsUrls: Type.Optional(
      Type.Array(wsUrl('A node.'), {
        minItems: 1,
        description:
          'Where the worker that follows the chain hears of new heads (`eth_subscribe`), instead of asking for them. ' +
          'Only when to look follows from it: what is there is what the nodes of `rpcUrls` say.',
      }),
    ),
    tipWei: Type.Optional(digits('Fixed priority fee, in wei. Without it the nodes are asked.')),
    maxTipWei: Type.Optional(
      digits(
        'The most that is believed of a priority fee that nodes suggest, in wei. ' +
          'Default: twice the base fee, and at least 100000000.',
      ),
    ),
    l1FeeOracle: Type.Optional(
      address('Of an OP-stack chain: its GasPriceOracle, 0x420000000000000000000000000000000000000F.'),
    ),
    l1Gas: Type.Optional(
      Type.Literal('arbitrum', {
        description:
          'Of Arbitrum and chains of its stack: posting bytes to L1 is charged as gas, which its nodes estimate.',
      }),
    ),
  },
  strict,
)

export const SolanaChain = Type.Object(
  {
    ...anyChain,
    family: Type.Literal('solana', { description: 'Of Solana.' }),
    genesisHash: Type.Optional(text('Names the cluster; checked at start.')),
    vaults: Type.Object(
      {
        intake: solanaAddress('Owns the accounts that inputs go to.'),
        inventory: solanaAddress('Owns the accounts that deliveries are paid from.'),
      },
      {
        ...strict,
        description:
          'The authorities that own the token accounts of the vaults; their own lamports are the native coin.',
      },
    ),
    feePayers: Type.Object(
      {
        input: solanaAddress('Of inputs, and of what leaves the intake vault.'),
        delivery: solanaAddress('Of deliveries.'),
      },
      { ...strict, description: 'Pay for transactions, and own nothing else.' },
    ),
    tokens: Type.Array(tokenOf(solanaAddress('Of the mint.')), TOKENS),
    priorityPrice: Type.Optional(
      Type.Object(
        { floor: digits('Never less. Default 1000.'), cap: digits('Never more. Default 1000000.') },
        {
          ...strict,
          description: 'Bounds of the priority price, in millionths of a lamport per compute unit.',
        },
      ),
    ),
  },
  strict,
)
