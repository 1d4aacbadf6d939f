import { createEvmClients } from '../../chains/evm/client.ts'
import { createSolanaClient } from '../../chains/solana/client.ts'
import type { ChainConfig } from '../../config.ts'

/** The software of each node that answers. The check of nodes names those that do not. */
export async function readNodeVersions(chains: readonly ChainConfig[]): Promise<string[]> {
  const found = chains.flatMap((chain) => {
    const urls = [...new Set([...chain.rpcUrls, ...chain.attesterRpcUrls])]
    return versionsOf(chain, urls).map(async (asked, index) => {
      const version = await asked.catch(() => undefined)
      const { host } = new URL(urls[index] ?? '')
      return version === undefined ? [] : [`${chain.name}: ${host} runs ${version}`]
    })
  })
  return (await Promise.all(found)).flat()
}

function versionsOf({ family }: ChainConfig, urls: readonly string[]): Promise<string>[] {
  if (family === 'evm')
    return createEvmClients({ urls }).nodes.map((node) =>
      node.request({ method: 'web3_clientVersion' } as never),
    )
  return createSolanaClient({ urls }).nodes.map(
    async (node) => `Solana ${(await node.getVersion().send())['solana-core']}`,
  )
}
