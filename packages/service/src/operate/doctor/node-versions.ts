import { createEvmClients } from '../../chains/evm/client.ts'
import { type Findings, reasonOf } from '../../chains/findings.ts'
import { createSolanaClient } from '../../chains/solana/client.ts'
import type { ChainConfig } from '../../config.ts'

/** Asks each node for its software: a node that does not answer is named with the reason. */
export async function checkNodeVersions(
  chains: readonly ChainConfig[],
): Promise<Findings & { facts: string[] }> {
  const warnings: string[] = []
  const facts: string[] = []
  const asked = chains.flatMap((chain) => {
    const urls = [...new Set([...chain.rpcUrls, ...chain.attesterRpcUrls])]
    return versionsOf(chain, urls).map(async (version, index) => {
      const { host } = new URL(urls[index] ?? '')
      await version.then(
        (text) => facts.push(`${chain.name}: ${host} runs ${text}`),
        (error: unknown) =>
          warnings.push(`${chain.name}: the node at ${host} does not answer: ${reasonOf(error)}`),
      )
    })
  })
  await Promise.all(asked)
  return { problems: [], warnings: warnings.sort(), facts: facts.sort() }
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
