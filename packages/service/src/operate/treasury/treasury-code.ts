import { getAddress } from 'viem'
import { createEvmClients } from '../../chains/evm/client.ts'
import { judgeTreasury, readCodeHash } from '../../chains/evm/treasury-code.ts'
import { describeError, UsageError } from '../../command.ts'
import type { EvmChainConfig, NetworkConfig } from '../../config.ts'

/** Throws before anything is deployed. */
export async function refuseLostTreasury(
  network: NetworkConfig,
  asked: readonly EvmChainConfig[],
): Promise<void> {
  const problem = await findTreasuryLost(network, asked)
  if (problem) throw new UsageError(`${problem}, or pass --accept-treasury. Nothing was sent.`)
}

/** Finds a treasury whose code differs between chains. Chains that are not asked for may be silent. */
export async function findTreasuryLost(
  network: NetworkConfig,
  asked: readonly EvmChainConfig[],
): Promise<string | undefined> {
  const { treasury } = network
  if (treasury === undefined) return undefined
  const address = getAddress(treasury)
  const evm = network.chains.filter((chain): chain is EvmChainConfig => chain.family === 'evm')
  const seen = await Promise.all(
    evm.map(async (chain) => {
      const { client } = createEvmClients({ urls: chain.rpcUrls })
      try {
        return { chain, code: await readCodeHash(client, address) }
      } catch (error) {
        if (asked.includes(chain)) throw new Error(`${chain.name}: ${describeError(error)}`, { cause: error })
        return { chain, code: undefined }
      }
    }),
  )
  return judgeTreasury(address, seen)
}
