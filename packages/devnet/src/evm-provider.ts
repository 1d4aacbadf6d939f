import { createHardhatNetworkProvider } from 'hardhat/internal/hardhat-network/provider/provider.js'

const BASE_FEE_WEI = 100_000_000
const BLOCK_GAS_LIMIT = 60_000_000

export type EvmProvider = Awaited<ReturnType<typeof createHardhatNetworkProvider>>

type EvmProviderOptions = {
  chainId: number
  baseFeeWei?: number
  /** Defaults to now. */
  genesisTime?: Date
}

/**
 * The node that `hardhat node` starts, without the project, compiler and task runner around it: a fifth of a
 * second instead of several. These are internal modules of an exactly pinned version.
 */
export function createEvmProvider(options: EvmProviderOptions): Promise<EvmProvider> {
  return createHardhatNetworkProvider(
    {
      hardfork: 'prague',
      chainId: options.chainId,
      networkId: options.chainId,
      blockGasLimit: BLOCK_GAS_LIMIT,
      initialBaseFeePerGas: options.baseFeeWei ?? BASE_FEE_WEI,
      ...(options.genesisTime && { initialDate: options.genesisTime }),
      minGasPrice: 0n,
      automine: false,
      intervalMining: 0,
      mempoolOrder: 'priority',
      chains: new Map(),
      genesisAccounts: [],
      allowUnlimitedContractSize: false,
      // Blocks faster than one a second must not move the chain's clock ahead of real time.
      allowBlocksWithSameTimestamp: true,
      // As on a real node: a reverting transaction is included, a reverting call is an error.
      throwOnTransactionFailures: false,
      throwOnCallFailures: true,
      enableTransientStorage: false,
      enableRip7212: false,
    },
    { enabled: false },
  )
}
