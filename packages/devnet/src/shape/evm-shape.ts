/** A tag names the last block at or before `floor(head time / step) * step - lag`, in seconds of the chain. */
export type TagLag = { lagSeconds: number; stepSeconds: number }

/** Whether a transaction pays for its gas only, or for its bytes on L1 too. */
type FeeSystem = 'l1' | 'op-stack' | 'arbitrum'

export type LogLimits = { blocks: number; results: number; refusal: LogRefusal }
/** A provider's wording for a range of blocks that is too long. */
export type LogRefusal = 'geth' | 'infura' | 'alchemy'

export type EvmShape = {
  name: string
  blockMs: number
  /** The length of the chain's history at its start: more than three times its finality. */
  historySeconds: number
  safe: TagLag
  finalized: TagLag
  fees: FeeSystem
  /** The initial price of one byte on L1; 0 without a separate L1. */
  l1WeiPerByte: bigint
  /** The base fee of the chain's own first block, in wei. */
  baseFeeWei: bigint
  pool: { minTipWei: bigint; minTipRefusal: string; priceBumpPercent: bigint }
  logs: LogLimits
  /** Calls per second and client. */
  callsPerSecond: number
  /** How many blocks the second backend is behind. */
  backendLag: number
}

export type EvmShapeName = 'ethereum' | 'base' | 'arbitrum'

const GWEI = 1_000_000_000n
// go-ethereum core/txpool/legacypool DefaultConfig: PriceBump 10, PriceLimit 1.
const PRICE_BUMP_PERCENT = 10n
// go-ethereum up to 1.15 uses the first wording for a low tip, later versions the second; op-geth follows
// later.
const UNDERPRICED = 'transaction underpriced'
const BELOW_MINIMUM = 'transaction gas price below minimum'
// Above the needs of a service that meets its goal of two calls a second and chain.
const CALLS_PER_SECOND = 300

export const EVM_SHAPES: Readonly<Record<EvmShapeName, EvmShape>> = {
  ethereum: {
    name: 'ethereum',
    blockMs: 12_000,
    historySeconds: 2 * 60 * 60,
    // Consensus specs: 32 slots of 12 s an epoch. `safe` is the justified checkpoint, the start of the epoch before
    // this one; `finalized` is the start of the one before that: 6.4 to 12.8 and 12.8 to 19.2 minutes.
    safe: { lagSeconds: 384, stepSeconds: 384 },
    finalized: { lagSeconds: 768, stepSeconds: 384 },
    fees: 'l1',
    l1WeiPerByte: 0n,
    baseFeeWei: GWEI,
    pool: { minTipWei: 1n, minTipRefusal: BELOW_MINIMUM, priceBumpPercent: PRICE_BUMP_PERCENT },
    logs: { blocks: 1_000, results: 10_000, refusal: 'geth' },
    callsPerSecond: CALLS_PER_SECOND,
    backendLag: 1,
  },
  base: {
    name: 'base',
    blockMs: 2_000,
    historySeconds: 2 * 60 * 60,
    // OP specs, derivation: `safe` is derived from L1, so it moves with each batch, a few minutes apart;
    // `finalized` when the L1 block with the batch is final.
    safe: { lagSeconds: 120, stepSeconds: 240 },
    finalized: { lagSeconds: 900, stepSeconds: 300 },
    fees: 'op-stack',
    // Fjord, per byte: (16 * baseFeeScalar * l1BaseFee + blobBaseFeeScalar * blobBaseFee) / 1e6.
    // The scalars are those of OP Mainnet for blobs, 1,368 and 810,949 (ethereum-optimism/superchain-ops).
    // The L1 base fee is 5 gwei, the blob base fee 1 gwei.
    l1WeiPerByte: 920_389_000n,
    baseFeeWei: GWEI / 100n,
    pool: { minTipWei: 1n, minTipRefusal: UNDERPRICED, priceBumpPercent: PRICE_BUMP_PERCENT },
    logs: { blocks: 2_000, results: 10_000, refusal: 'infura' },
    callsPerSecond: CALLS_PER_SECOND,
    backendLag: 2,
  },
  arbitrum: {
    name: 'arbitrum',
    blockMs: 250,
    historySeconds: 2 * 60 * 60,
    // Nitro: `safe` and `finalized` are the last block of a batch whose L1 block is safe or finalized.
    safe: { lagSeconds: 400, stepSeconds: 200 },
    finalized: { lagSeconds: 900, stepSeconds: 300 },
    fees: 'arbitrum',
    // 100 gas a byte at the floor of the base fee: a plain transfer takes about 11,000 for L1.
    l1WeiPerByte: GWEI,
    // The floor of Arbitrum One: 0.01 gwei (Arbitrum docs, gas and fees).
    baseFeeWei: GWEI / 100n,
    pool: { minTipWei: 0n, minTipRefusal: UNDERPRICED, priceBumpPercent: PRICE_BUMP_PERCENT },
    logs: { blocks: 10_000, results: 10_000, refusal: 'alchemy' },
    callsPerSecond: CALLS_PER_SECOND,
    backendLag: 2,
  },
}
