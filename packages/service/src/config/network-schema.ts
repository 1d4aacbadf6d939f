import Type from 'typebox'
import { ChainSchema, floatFields } from '../chains/families.ts'
import { Screening } from '../screen/config.ts'
import { VenueSchema } from '../venues/registry.ts'
import { address, chainId, count, decimal, flag, name, range, strict, text, url } from './fields.ts'
import { Asset, Discount, Fees, PriceTolerance, Pyth, Rebalancing } from './market-schema.ts'

const share = (of: string, bps: number) =>
  Type.Optional(
    range(1, 10_000, `Of swaps of one ${of}, in basis points of what is left of the token. Default ${bps}.`),
  )

const WastedGas = Type.Object(
  {
    walletCents: Type.Optional(count('For swaps of one wallet. Default 200.')),
    accountCents: Type.Optional(count('For swaps of one account. Default 2000.')),
    chainCents: Type.Optional(count('On one chain, for all swaps. Default 10000.')),
  },
  {
    ...strict,
    description:
      'Gas that locks and deliveries without effect may cost per hour, in cents of a US dollar. Beyond it builds and ' +
      'submissions are refused until the next hour: all of the wallet, those of wallets unknown to the account, and ' +
      'on the chain those of unknown contract wallets. An account knows a wallet with a settled swap.',
  },
)

const Reservations = Type.Object(
  { walletBps: share('wallet', 2_500), accountBps: share('account', 5_000) },
  {
    ...strict,
    description:
      'Largest part of a token that swaps may reserve before their inputs are locked. That of an account whose locks ' +
      'failed lately is smaller, down to a tenth.',
  },
)

const Budgets = Type.Object(
  { wastedGas: Type.Optional(WastedGas), reservations: Type.Optional(Reservations) },
  { ...strict, description: 'What strangers may cost or hold back.' },
)

const Deadlines = Type.Object(
  {
    opLifeSeconds: Type.Optional(
      count('Time from the build until the input can no longer be locked. Default 120.'),
    ),
    volatileLifeSeconds: Type.Optional(
      count('Instead of `opLifeSeconds` between assets that do not follow each other. Default 60.'),
    ),
    depositSeconds: Type.Optional(
      count(
        'Instead of `opLifeSeconds` for an input by deposit, which a person may have to send. Default 900.',
      ),
    ),
    lockInclusionSeconds: Type.Optional(count('Time for a lock to get into a block. Default 60.')),
    fillSeconds: Type.Optional(count('Time in which a locked input can be delivered. Default 600.')),
    cutOffSeconds: Type.Optional(
      count('Nothing is signed in the last part of `fillSeconds`; at most half of it. Default 60.'),
    ),
    attemptLifeSeconds: Type.Optional(count('Time for a delivery to get into a block. Default 90.')),
    detectionSeconds: Type.Optional(count('Time to see a delivery. Default 60.')),
    claimInclusionSeconds: Type.Optional(count('Time for a claim to get into a block. Default 300.')),
  },
  {
    ...strict,
    description:
      'Seconds from which the signed deadlines are made. Inclusion times are at least three blocks of the slowest ' +
      'chain. An input must be held for at most seven days less an hour, even if both finalities take three times ' +
      'as long as configured.',
  },
)

const Webhooks = Type.Object(
  {
    allowPrivateAddresses: Type.Optional(
      flag('Allows plain HTTP and private addresses, for a network on one machine. Default false.'),
    ),
  },
  { ...strict, description: 'Rules for webhook endpoints.' },
)

const GasFloat = Type.Object(
  {
    ...floatFields,
    chains: Type.Array(
      Type.Object(
        {
          chainId: chainId('A chain of this file.'),
          low: decimal('A key that holds less is topped up to `target`.'),
          target: decimal('Balance after a top-up.'),
          maxPerDay: decimal('Limit for all keys of the chain together, in any 24 hours.'),
        },
        strict,
      ),
      { minItems: 1, description: 'Chains on which keys are topped up. Amounts are whole coins, as text.' },
    ),
  },
  {
    ...strict,
    description: 'Tops up the keys that pay for gas, from addresses that hold nothing but gas coin.',
  },
)

const signingAddress = Type.String({
  pattern: '^(0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$',
  description: 'A relayer, deliverer, attester, fee payer, gas float or Solana vault of this file.',
})

const RemoteSigner = Type.Object(
  {
    url: url('Its URL: https, or http on this machine.'),
    addresses: Type.Array(signingAddress, {
      minItems: 1,
      description: 'Addresses whose keys it holds.',
    }),
    timeoutMs: Type.Optional(
      range(100, 10_000, 'Longest wait for a signature, in milliseconds. Default 3000.'),
    ),
  },
  strict,
)

const pool = (used: string, size: number) =>
  Type.Optional(range(1, 1_000, `Connections of ${used} at most. Default ${size}.`))

const Connections = Type.Object(
  {
    apiPool: pool('an API process', 20),
    workerPool: pool('a worker', 20),
    attesterPool: pool('an attester', 4),
    apiProcesses: Type.Optional(range(1, 1_000, 'API processes that run at once. Default 1.')),
    workerProcesses: Type.Optional(range(1, 1_000, 'Workers that run at once. Default 1.')),
  },
  {
    ...strict,
    description:
      'Connections to the database. Processes do not start if their sum, with listeners and commands, is more than ' +
      'the server allows.',
  },
)

const urlByChain = (description: string) =>
  Type.Record(Type.String({ pattern: '^[0-9]+$' }), url('URL for the chain with this id.'), { description })

const X402 = Type.Object(
  {
    account: name(
      'Account of such swaps alone, made by `service api-key create`. The rules of its oldest active key hold for ' +
        'them.',
    ),
    callsPerMinute: Type.Optional(
      range(1, 60_000, 'Calls of one network address in one API process; 20 at once. Default 30.'),
    ),
    dailyUsdPerWallet: Type.Optional(
      range(1, 1_000_000_000, 'USD that one wallet may pay in one UTC day. Default 25000.'),
    ),
  },
  { ...strict, description: 'Swaps by one HTTP 402 payment, without an API key. Default: none.' },
)

const Keyless = Type.Object(
  {
    account: name(
      'Account of such callers, made by `service api-key create`. The rules of its oldest active key hold for them.',
    ),
    host: Type.String({
      pattern: '^[a-z0-9.-]+(:[0-9]{1,5})?$',
      description:
        'Host of the public URL, with the port unless it is 443 or 80. Signatures for another one are refused.',
    }),
    callsPerMinute: Type.Optional(
      range(
        1,
        60_000,
        'Calls of one wallet, and of each kind of one network address, in one API process; 20 at once. Default 120.',
      ),
    ),
  },
  { ...strict, description: 'Calls signed by a wallet (ERC-8128) instead of an API key. Default: none.' },
)

const Web = Type.Object(
  {
    folder: Type.Optional(text('Folder of the built page. Default packages/web/dist, if it exists.')),
    rpcUrls: Type.Optional(
      urlByChain(
        'Nodes for balances and refunds in the page, by chain id. Default: none, and the page reads no chain.',
      ),
    ),
    txUrls: Type.Optional(urlByChain('Explorer URLs of transactions with {hash} in them, by chain id.')),
    localFile: Type.Optional(
      text('Local network only: file with the API key and the faucet for a page on the same machine.'),
    ),
  },
  { ...strict, description: 'The page at /app.' },
)

const Discovery = Type.Object(
  {
    url: url(
      'Public URL of the API with its path: https, or http on this machine, without a slash at the end.',
    ),
    name: Type.Optional(
      Type.String({
        pattern: '^[!-~]([ -~]{0,98}[!-~])?$',
        description: 'Its name for machines. Default geoswap.',
      }),
    ),
    image: Type.Optional(url('URL of its logo. Default none.')),
    registrations: Type.Optional(
      Type.Array(
        Type.Object(
          {
            agentId: range(0, Number.MAX_SAFE_INTEGER, 'Its number there.'),
            agentRegistry: Type.String({
              pattern: '^eip155:[0-9]+:0x[0-9a-fA-F]{40}$',
              description: 'The registry, such as eip155:8453:0x8004…',
            }),
          },
          strict,
        ),
        { description: 'Its entries in registries of ERC-8004. Default none.' },
      ),
    ),
  },
  {
    ...strict,
    description:
      'Lets machines find the service by `/.well-known/agent-card.json` (A2A) and `agent-registration.json` ' +
      '(ERC-8004). Default: they are not served.',
  },
)

const attesterSet = (description: string) =>
  Type.Object(
    {
      members: Type.Array(address('An attester.'), {
        minItems: 1,
        maxItems: 7,
        description:
          'Addresses that sign claims and refunds. Each is a process of its own, with nodes of its own.',
      }),
      threshold: range(1, 7, 'How many of the members have to sign. 2 of 3 is recommended.'),
    },
    { ...strict, description },
  )

const roles = {
  relayers: Type.Array(address('A relayer.'), {
    minItems: 1,
    description:
      'Addresses that lock inputs and send claims and refunds. Each needs gas on every EVM chain. ' +
      'No address has two roles.',
  }),
  authorizationRelayers: Type.Array(address('A relayer.'), {
    minItems: 1,
    description:
      'Addresses that only lock first inputs of wallets, with their EIP-7702 authorizations. ' +
      'Two or more, with gas on every EVM chain.',
  }),
  deliverers: Type.Array(address('A deliverer.'), {
    minItems: 1,
    description: 'Addresses that pay outputs from the vaults. Each needs gas on every EVM chain.',
  }),
  retiring: Type.Optional(
    Type.Array(address('A relayer or deliverer.'), {
      description: 'Relayers and deliverers that get no new work and finish what they began.',
    }),
  ),
  attesters: attesterSet('The attesters, as the escrows have them.'),
  nextAttesters: Type.Optional(
    attesterSet(
      'The attesters that follow. Set it while the escrows change, until every op of the former set has ended.',
    ),
  ),
  attestedRefundsStopped: Type.Optional(
    flag(
      'Whether the escrows refuse refunds before their deadline, for a stolen attester key: `service treasury` sets ' +
        'it. Default: as the chain has it.',
    ),
  ),
  treasury: Type.Optional(
    address(
      'Owner of inventory and caps. Required to deploy; checked at start if set. No process holds its key.',
    ),
  ),
  guardian: Type.Optional(
    address(
      'Key that can lower caps and revoke deliverers, and nothing else: `service treasury` names it in the vaults. ' +
        'Default: none. No process holds it.',
    ),
  ),
}

export const NetworkSchema = Type.Object(
  {
    $schema: Type.Optional(text('Path of docs/config.schema.json, for editors.')),
    network: name('Name of the deployment.'),
    basePath: Type.Optional(
      Type.String({
        pattern: '^(/[A-Za-z0-9_-]+)*$',
        description:
          'Mounts the API under a path such as /geoswap; /health, /ready and /metrics also answer at the root. ' +
          'Default none.',
      }),
    ),
    corsOrigins: Type.Optional(
      Type.Array(url('An origin: scheme, host and port.'), {
        description:
          'Web pages of these origins, such as https://app.example, may call the API with any key. The origins of ' +
          'publishable keys are always allowed. Default none.',
      }),
    ),
    ...roles,
    chains: Type.Array(ChainSchema, {
      minItems: 1,
      description: 'The chains that are served.',
    }),
    gasFloat: Type.Optional(GasFloat),
    remoteSigners: Type.Optional(
      Type.Array(RemoteSigner, {
        minItems: 1,
        description:
          "Servers with Web3Signer's eth1 API, or its form for Solana, that sign for addresses of this file, in " +
          'place of keys in a process. The worker and each attester need separate servers.',
      }),
    ),
    assets: Type.Array(Asset, {
      minItems: 1,
      description: 'Assets and their price sources.',
    }),
    venues: Type.Optional(
      Type.Array(VenueSchema, {
        minItems: 1,
        description:
          'Venues that deliver. The best net output wins; in a tie the first in this list. ' +
          'Default: the inventory alone.',
      }),
    ),
    pyth: Type.Optional(Pyth),
    feeCentiBps: Type.Optional(
      range(
        0,
        100_000,
        'One service fee for every class that `fees` does not name, in hundredths of a basis point.',
      ),
    ),
    fees: Type.Optional(Fees),
    rebalancing: Type.Optional(Rebalancing),
    discount: Type.Optional(Discount),
    highImpactBps: Type.Optional(
      range(1, 10_000, 'Loss from which a quote carries HIGH_PRICE_IMPACT, in basis points. Default 500.'),
    ),
    priceTolerance: Type.Optional(PriceTolerance),
    thinSpreadBps: Type.Optional(
      range(
        0,
        1_000,
        'Spread between two assets if one has fewer than three live price sources, in basis points. Default 5.',
      ),
    ),
    unsubmittedCapUsd: Type.Optional(
      range(
        1,
        1_000_000_000,
        'USD that one account may have in built and not submitted ops that a wallet signs; a single op may be ' +
          'larger. Default 250000.',
      ),
    ),
    quoteTtlMs: Type.Optional(range(1, 3_600_000, 'Lifetime of a quote, in milliseconds. Default 30000.')),
    leaseMs: Type.Optional(
      count(
        'Time until another worker takes over the lanes of a silent one, in milliseconds. Leases are renewed four ' +
          'times in it. At least 200 and below `lockInclusionSeconds`. Default 6000.',
      ),
    ),
    deadlines: Type.Optional(Deadlines),
    budgets: Type.Optional(Budgets),
    screening: Type.Optional(Screening),
    webhooks: Type.Optional(Webhooks),
    connections: Type.Optional(Connections),
    eventDays: Type.Optional(
      range(
        1,
        36_500,
        'Days for which the changes of an ended swap can be streamed and replayed; its end stays. Default 90.',
      ),
    ),
    web: Type.Optional(Web),
    discovery: Type.Optional(Discovery),
    x402: Type.Optional(X402),
    keyless: Type.Optional(Keyless),
  },
  strict,
)
