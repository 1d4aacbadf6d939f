import Type, { type Static } from 'typebox'

/** A value that must never be printed: logs and JSON show only that it is set. */
export class Secret {
  readonly #value: string
  constructor(value: string) {
    this.#value = value
  }
  reveal(): string {
    return this.#value
  }
  toJSON(): string {
    return '[secret]'
  }
}

const Address = Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' })
const SolanaAddress = Type.String({ pattern: '^[1-9A-HJ-NP-Za-km-z]{32,44}$' })
const Digits = Type.String({ pattern: '^[0-9]+$' })
const Url = Type.String({ pattern: '^https?://' })
const Count = Type.Integer({ minimum: 1 })
const Strict = { additionalProperties: false }

// What every chain says of itself, whatever its family.
const anyChain = {
  chainId: Count,
  name: Type.String({ pattern: '^[a-z0-9-]+$' }),
  rpcUrls: Type.Array(Url, { minItems: 1 }),
  attesterRpcUrls: Type.Array(Url, { minItems: 1 }),
  native: Type.Object({ symbol: Type.String(), asset: Type.String() }, Strict),
  /** In blocks. On Solana they say how long to expect; its commitments say what counts. */
  finality: Type.Object({ accept: Count, settle: Count, hard: Count }, Strict),
  blockMs: Count,
  /** A head older than this stops quotes for the chain. */
  maxHeadAgeMs: Type.Optional(Count),
  /** Value that may be delivered against locks that are not hard-final yet. */
  exposureCapUsd: Type.Optional(Type.Integer({ minimum: 0 })),
  /** Unmined transactions per sender key; further work waits and is batched. */
  maxInFlight: Type.Optional(Count),
}

const tokenOf = (address: typeof Address) =>
  Type.Object(
    {
      symbol: Type.String(),
      address,
      asset: Type.String(),
      /** What the chain has to say; amounts are counted in what it says. */
      decimals: Type.Optional(Type.Integer({ minimum: 0, maximum: 36 })),
    },
    Strict,
  )

const EvmChain = Type.Object(
  {
    ...anyChain,
    family: Type.Literal('evm'),
    contracts: Type.Object({ account: Address, escrow: Address, vault: Address }, Strict),
    /** Delegates of ours from before: wallets on them are asked to move on, never refused. */
    olderAccounts: Type.Optional(Type.Array(Address)),
    tokens: Type.Array(tokenOf(Address)),
    tipWei: Type.Optional(Digits),
    /** Of an OP-stack chain: its GasPriceOracle, 0x420000000000000000000000000000000000000F. */
    l1FeeOracle: Type.Optional(Address),
  },
  Strict,
)

const SolanaChain = Type.Object(
  {
    ...anyChain,
    family: Type.Literal('solana'),
    /** Names the cluster; checked at start. */
    genesisHash: Type.Optional(Type.String()),
    /** The authorities that own the vaults' token accounts; their own lamports are the vaults' native coin. */
    vaults: Type.Object({ intake: SolanaAddress, inventory: SolanaAddress }, Strict),
    /** Pay for transactions and own nothing else: one for inputs and what leaves intake, one for deliveries. */
    feePayers: Type.Object({ input: SolanaAddress, delivery: SolanaAddress }, Strict),
    tokens: Type.Array(tokenOf(SolanaAddress)),
    /** Bounds of the priority price, in millionths of a lamport per compute unit. */
    priorityPrice: Type.Optional(Type.Object({ floor: Digits, cap: Digits }, Strict)),
  },
  Strict,
)

const ChainlinkFeed = Type.Object(
  {
    kind: Type.Literal('chainlink'),
    chainId: Count,
    address: Address,
    maxAgeSeconds: Count,
    /** What the feed says it is, where that is not the asset's name and ` / USD`. */
    description: Type.Optional(Type.String({ minLength: 1 })),
  },
  Strict,
)
const PythFeed = Type.Object(
  {
    kind: Type.Literal('pyth'),
    feedId: Type.String({ pattern: '^0x[0-9a-f]{64}$' }),
    maxAgeSeconds: Count,
    maxConfidenceBps: Type.Optional(Count),
  },
  Strict,
)
const Asset = Type.Object(
  {
    name: Type.String(),
    usdStable: Type.Optional(Type.Boolean()),
    sources: Type.Array(Type.Union([ChainlinkFeed, PythFeed]), { minItems: 1 }),
    /** How far a live source may be from the median. */
    maxDeviationBps: Type.Optional(Type.Integer({ minimum: 1, maximum: 9_999 })),
    /** With fewer live sources there is no price. */
    minSources: Type.Optional(Count),
  },
  Strict,
)
const Pyth = Type.Object({ url: Url, pollMs: Type.Optional(Count) }, Strict)

const Bps = Type.Integer({ minimum: 0, maximum: 2_000 })

/** The operator's own liquidity. Spread and twice the impact stay far below the whole: the curve has to rise. */
const InventoryVenue = Type.Object(
  {
    kind: Type.Literal('inventory'),
    spreadBps: Type.Optional(Bps),
    /** What taking the whole inventory of a token costs beyond the spread. */
    impactBps: Type.Optional(Bps),
    pairs: Type.Optional(
      Type.Array(Type.Object({ assets: Type.Tuple([Type.String(), Type.String()]), spreadBps: Bps }, Strict)),
    ),
    /** The most that one swap may take, by chain, asset or both. */
    limits: Type.Optional(
      Type.Array(
        Type.Object(
          { chainId: Type.Optional(Count), asset: Type.Optional(Type.String()), maxUsd: Count },
          Strict,
        ),
      ),
    ),
  },
  Strict,
)

/** Outputs bought from pools of one chain, in the transaction that delivers them. */
const UniswapVenue = Type.Object(
  {
    kind: Type.Literal('uniswap-v3'),
    chainId: Count,
    quoter: Address,
    /** Ours; the vault has to allow it. */
    adapter: Address,
    /** `sell` is what the vault holds; the fee is in millionths. */
    pools: Type.Array(Type.Object({ sell: Address, buy: Address, fee: Count }, Strict), { minItems: 1 }),
  },
  Strict,
)

const Deadlines = Type.Object(
  {
    opLifeSeconds: Type.Optional(Count),
    lockInclusionSeconds: Type.Optional(Count),
    fillSeconds: Type.Optional(Count),
    cutOffSeconds: Type.Optional(Count),
    attemptLifeSeconds: Type.Optional(Count),
    detectionSeconds: Type.Optional(Count),
    claimInclusionSeconds: Type.Optional(Count),
  },
  Strict,
)

const Tier = Type.Object(
  {
    name: Type.String({ minLength: 1 }),
    /** In whole tokens. */
    holding: Type.String({ pattern: '^(0|[1-9][0-9]*)(\\.[0-9]+)?$' }),
    percent: Type.Integer({ minimum: 1, maximum: 100 }),
  },
  Strict,
)

const Discount = Type.Object(
  {
    /** The service's token, as an asset: wallets that hold it pay less. */
    asset: Type.String(),
    /** From the lowest to the highest. */
    tiers: Type.Optional(Type.Array(Tier, { minItems: 1 })),
    /** A holding that was read longer ago earns nothing. */
    maxAgeSeconds: Type.Optional(Count),
  },
  Strict,
)

const Webhooks = Type.Object(
  {
    /** Also calls endpoints by plain HTTP and on private addresses: for a network on one machine. */
    allowPrivateAddresses: Type.Optional(Type.Boolean()),
  },
  Strict,
)

const Coins = Type.String({ pattern: '^(0|[1-9][0-9]*)(\\.[0-9]+)?$' })

/** Keeps the keys that send transactions in gas coin. Amounts in whole coins. */
const GasFloat = Type.Object(
  {
    evm: Type.Optional(Address),
    solana: Type.Optional(SolanaAddress),
    chains: Type.Array(
      Type.Object(
        {
          chainId: Count,
          /** A key that holds less is filled up to `target`. */
          low: Coins,
          target: Coins,
          /** In any 24 hours, for all keys of the chain together. */
          maxPerDay: Coins,
        },
        Strict,
      ),
      { minItems: 1 },
    ),
  },
  Strict,
)

const UrlByChain = Type.Record(Digits, Url)

const Web = Type.Object(
  {
    /** Where the built page is. Default: packages/web/dist, if it is there. */
    folder: Type.Optional(Type.String()),
    /** Nodes that the page may read balances from and send a refund to; it reads no chain without. */
    rpcUrls: Type.Optional(UrlByChain),
    /** Where a transaction can be looked at, with {hash} in its place. */
    txUrls: Type.Optional(UrlByChain),
    /** Of a network on one machine: the file that tells the page on that machine its key and faucet. */
    localFile: Type.Optional(Type.String()),
  },
  Strict,
)

export const NetworkSchema = Type.Object(
  {
    /** For editors: docs/config.schema.json. */
    $schema: Type.Optional(Type.String()),
    network: Type.String({ pattern: '^[a-z0-9-]+$' }),
    basePath: Type.Optional(Type.String({ pattern: '^(/[A-Za-z0-9_-]+)*$' })),
    relayers: Type.Array(Address, { minItems: 1 }),
    deliverers: Type.Array(Address, { minItems: 1 }),
    /** Of the relayers and deliverers, those that get nothing new and finish what they began. */
    retiring: Type.Optional(Type.Array(Address)),
    attester: Address,
    /** Who the escrows are about to have instead: while it is named, what either of the two signed is taken. */
    nextAttester: Type.Optional(Address),
    /** Owns inventory and caps. Contracts are deployed for it; its key belongs to no process. */
    treasury: Type.Optional(Address),
    chains: Type.Array(Type.Union([EvmChain, SolanaChain]), { minItems: 1 }),
    gasFloat: Type.Optional(GasFloat),
    assets: Type.Array(Asset, { minItems: 1 }),
    /** Who delivers, the first one where two give the same. Default: the inventory alone. */
    venues: Type.Optional(Type.Array(Type.Union([InventoryVenue, UniswapVenue]), { minItems: 1 })),
    /** The Hermes server that the sources of kind `pyth` are read from. */
    pyth: Type.Optional(Pyth),
    feeCentiBps: Type.Optional(Type.Integer({ minimum: 0, maximum: 100_000 })),
    discount: Type.Optional(Discount),
    highImpactBps: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
    /** How far the market may move against the operator before a swap goes back. Default: the slippage of the swap. */
    priceToleranceBps: Type.Optional(Type.Integer({ minimum: 1, maximum: 9_999 })),
    quoteTtlMs: Type.Optional(Count),
    /** How long a worker that is silent keeps its lanes. */
    leaseMs: Type.Optional(Count),
    deadlines: Type.Optional(Deadlines),
    webhooks: Type.Optional(Webhooks),
    /** How long the changes of swaps that are over can be read; their end stays. */
    eventDays: Type.Optional(Count),
    web: Type.Optional(Web),
  },
  Strict,
)

export type NetworkConfig = Static<typeof NetworkSchema>
export type EvmChainConfig = Static<typeof EvmChain>
export type SolanaChainConfig = Static<typeof SolanaChain>
export type ChainConfig = EvmChainConfig | SolanaChainConfig
export type AssetConfig = Static<typeof Asset>
export type InventoryVenueConfig = Static<typeof InventoryVenue>
export type DiscountConfig = Static<typeof Discount>
export type GasFloatConfig = Static<typeof GasFloat>
export type WebConfig = Static<typeof Web>

export type Config = Readonly<{
  network: NetworkConfig
  databaseUrl: Secret
  host: string
  port: number
  /** Where worker and attester show their metrics; port 0 is nowhere. */
  metrics: { host: string; port: number }
  /** Where the API shows its operator what only an operator may see; port 0 is nowhere. */
  operator: { host: string; port: number; keys: readonly Secret[] }
  /** By the variables that OpenTelemetry gives every program. */
  tracing: { endpoint: string | undefined; headers: Secret | undefined; service: string }
  /** How long the API serves on after the first signal, no longer ready, so that balancers look elsewhere. */
  drainMs: number
  sealKeys: readonly { id: string; key: Secret }[]
  relayerKeys: readonly Secret[]
  delivererKeys: readonly Secret[]
  /** Two while one takes over from the other. */
  attesterKeys: readonly Secret[]
  /** Of the gas float on EVM chains; that of Solana is among the Solana keys. */
  floatKey: Secret | undefined
  /** Vault authorities and fee payers of the Solana chains. */
  solanaKeys: readonly Secret[]
  /** Makes the addresses of Solana markers; the same in every process, and backed up. */
  markerKey: Secret | undefined
  pythApiKey: Secret | undefined
}>

export const defaultDeadlines = {
  opLifeSeconds: 120,
  lockInclusionSeconds: 60,
  fillSeconds: 600,
  cutOffSeconds: 60,
  attemptLifeSeconds: 90,
  detectionSeconds: 60,
  claimInclusionSeconds: 300,
}

/** Value that may be delivered against locks of a chain that are not hard-final. */
export const defaultExposureCapUsd = 25_000

export const defaultDiscount = {
  tiers: [
    { name: 'bronze', holding: '1000', percent: 10 },
    { name: 'silver', holding: '10000', percent: 25 },
    { name: 'gold', holding: '100000', percent: 50 },
  ],
  maxAgeSeconds: 60,
}
