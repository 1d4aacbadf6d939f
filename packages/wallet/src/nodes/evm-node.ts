import { type Address, createPublicClient, erc20Abi, http, type PublicClient, zeroAddress } from 'viem'
import { UserError } from '../errors.ts'
import type { Reads } from '../families/family.ts'

const COIN_DECIMALS = 18
const TIMEOUT_MS = 10_000

export function connectEvm(rpcUrl: string): PublicClient {
  const transport = http(rpcUrl, { timeout: TIMEOUT_MS, retryCount: 1 })
  // Blocks take a second or less, so a cached balance may be outdated.
  return createPublicClient({ transport, cacheTime: 0, pollingInterval: 500 })
}

export function createEvmReads(chain: { chainId: number; name: string }, rpcUrl: string): Reads {
  const client = connectEvm(rpcUrl)
  let isRight: Promise<void> | undefined
  const rightChain = () => (isRight ??= assertChain(client, chain))
  return {
    async balanceOf(owner, token) {
      await rightChain()
      const args = [owner as Address] as const
      if (token === zeroAddress) return client.getBalance({ address: args[0] })
      return client.readContract({
        address: token as Address,
        abi: erc20Abi,
        functionName: 'balanceOf',
        args,
      })
    },
    async decimalsOf(token) {
      await rightChain()
      if (token === zeroAddress) return COIN_DECIMALS
      return client.readContract({ address: token as Address, abi: erc20Abi, functionName: 'decimals' })
    },
    async symbolOf(token) {
      if (token === zeroAddress) return undefined
      await rightChain()
      return client.readContract({ address: token as Address, abi: erc20Abi, functionName: 'symbol' })
    },
  }
}

export async function assertChain(
  client: PublicClient,
  { chainId, name }: { chainId: number; name: string },
): Promise<void> {
  const actual = await client.getChainId()
  if (actual === chainId) return
  const advice = `Set a node of ${name} with geoswap config set rpc.${chainId} URL.`
  throw new UserError('NODE_FAILED', `The node of ${name} (${chainId}) belongs to chain ${actual}.`, {
    advice,
  })
}
