import Type, { type Static } from 'typebox'

// Field types of the configuration. Editors show their descriptions while the file is written.

export const strict = { additionalProperties: false }

export const text = (description: string) => Type.String({ description })
export const name = (description: string) => Type.String({ pattern: '^[a-z0-9-]+$', description })
export const address = (description: string) => Type.String({ pattern: '^0x[0-9a-fA-F]{40}$', description })
export const solanaAddress = (description: string) =>
  Type.String({ pattern: '^[1-9A-HJ-NP-Za-km-z]{32,44}$', description })
export const digits = (description: string) => Type.String({ pattern: '^[0-9]+$', description })
/** A decimal number of whole coins or tokens, as a string: 0.25. */
export const decimal = (description: string) =>
  Type.String({ pattern: '^(0|[1-9][0-9]*)(\\.[0-9]+)?$', description })
export const wsUrl = (description: string) => Type.String({ pattern: '^wss?://', description })
export const url = (description: string) => Type.String({ pattern: '^https?://', description })
/** At most the longest timer delay, in milliseconds. */
export const count = (description: string) => range(1, 2 ** 31 - 1, description)
export const chainId = (description: string) => range(1, Number.MAX_SAFE_INTEGER, description)
export const flag = (description: string) => Type.Boolean({ description })
export const range = (minimum: number, maximum: number, description: string) =>
  Type.Integer({ minimum, maximum, description })

const NODES =
  'A majority decides: one alone, two must agree, of three one may be down or wrong. Without a majority the chain is ' +
  'down. Write a provider key as a dollar sign and a name in braces: it is read from the environment.'

const coin = { symbol: text('Symbol of the coin.'), asset: text('Name of its asset, one of `assets`.') }
export const nativeOf = <T extends Type.TProperties>(fields: T) =>
  Type.Object({ ...coin, ...fields }, { ...strict, description: 'The coin that gas is paid in.' })

// Fields of a chain of either family.
export const anyChain = {
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
      fast: Type.Optional(
        Type.Array(
          Type.Object(
            {
              belowUsd: Type.Optional(
                count('Applies to inputs worth less than this, in USD. The last entry has no limit.'),
              ),
              depth: Type.Optional(
                count('Depth at which such a lock is paid for, if that is deeper than `accept`.'),
              ),
              premiumCentiBps: range(0, 10_000, 'The premium, in hundredths of a basis point of the input.'),
            },
            strict,
          ),
          {
            minItems: 1,
            description:
              'The premium of swaps that are paid before finality beyond `exposureCapUsd`, by the value of the ' +
              'input, rising; within `fastCapUsd`. Default: 100 below 100000 USD, else 200.',
          },
        ),
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
      'USD that may be delivered without a premium against locks that are not final (`exposureUntil`). Default: ' +
        '5 % of what all vaults hold; 0 always waits for finality.',
    ),
  ),
  fastCapUsd: Type.Optional(
    range(
      0,
      1_000_000_000,
      'USD that may be delivered against locks that are not final, all together: the most that a reorg can cost. ' +
        'What it has above `exposureCapUsd` is for swaps that pay the premium of `finality.fast`. Default: ' +
        '`exposureCapUsd`, so none; without that either, 25 % of what all vaults hold.',
    ),
  ),
  unclaimedCapUsd: Type.Optional(
    range(
      0,
      1_000_000_000,
      'USD that may be delivered without a final claim, at least `fastCapUsd`. Default: half of what all vaults ' +
        'hold, and at least 250000; 0 delivers nothing from this chain.',
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

export const tokenOf = <T extends Type.TProperties>(at: ReturnType<typeof address>, fields: T) =>
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

export const TOKENS = { description: 'Tokens served beside the native coin.' }

const AnyChain = Type.Object(anyChain)
type Coin = { symbol: string; asset: string; capPerHour?: string }

/** The fields of a chain whose defaults are filled in. */
export type Finished = {
  finality: { hardSeconds: number }
  maxHeadAgeMs: number
  maxInFlight: number
}

/** A chain of any family, as far as families have the same fields. */
export type ChainFields = Static<typeof AnyChain> &
  Finished & {
    family: string
    native: Coin
    tokens: (Coin & { address: string; decimals?: number })[]
  }
