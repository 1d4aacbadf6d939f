import { getAddress, type Hex } from 'viem'
import { createEvmClients } from '../../chains/evm/client.ts'
import { describeError, UsageError } from '../../command.ts'
import type { EvmChainConfig, NetworkConfig } from '../../config.ts'

/** A delegated key (EIP-7702) is still a key. */
export function isContract(code: Hex | undefined): boolean {
  return code !== undefined && code !== '0x' && !code.startsWith('0xef0100')
}

type Seen = { chain: EvmChainConfig; isThere: boolean | undefined }

/** Throws before anything is deployed. */
export async function refuseLostTreasury(
  network: NetworkConfig,
  asked: readonly EvmChainConfig[],
): Promise<void> {
  const problem = await findTreasuryLost(network, asked)
  if (problem) throw new UsageError(`${problem}. Nothing was sent.`)
}

/**
 * Finds a treasury that is a contract on one chain and not on another: the contracts would obey an address there that
 * nobody controls. Chains that are not asked for may be silent.
 */
export async function findTreasuryLost(
  network: NetworkConfig,
  asked: readonly EvmChainConfig[],
): Promise<string | undefined> {
  const { treasury } = network
  if (treasury === undefined) return undefined
  const address = getAddress(treasury)
  const evm = network.chains.filter((chain): chain is EvmChainConfig => chain.family === 'evm')
  const seen = await Promise.all(
    evm.map(async (chain): Promise<Seen> => {
      const { client } = createEvmClients({ urls: chain.rpcUrls })
      try {
        return { chain, isThere: isContract(await client.getCode({ address })) }
      } catch (error) {
        if (asked.includes(chain)) throw new Error(`${chain.name}: ${describeError(error)}`, { cause: error })
        return { chain, isThere: undefined }
      }
    }),
  )
  return judgeTreasury(address, seen)
}

export function judgeTreasury(
  address: string,
  seen: readonly { chain: { name: string }; isThere: boolean | undefined }[],
): string | undefined {
  const namesOf = (wanted: boolean) =>
    seen.filter(({ isThere }) => isThere === wanted).map(({ chain }) => chain.name)
  const [contract, key] = [namesOf(true), namesOf(false)]
  if (contract.length === 0 || key.length === 0) return undefined
  const where = `a contract on ${contract.join(', ')} and has no code on ${key.join(', ')}`
  return `The treasury ${address} is ${where}: create it there at the same address first`
}
