import { webSocket } from 'viem'
import type { Shaped } from './shaped.ts'

export type BlockTimes = {
  /** When the block was announced, by the machine's clock; undefined for an unknown chain or block. */
  at(chain: string, block: bigint): number | undefined
  stop(): Promise<void>
}

type Head = { result?: { number: `0x${string}` } | undefined }

/** Records when each block of the EVM chains appears, to separate the chains' time from the service's. */
export async function listenToBlocks({ network }: Shaped): Promise<BlockTimes> {
  const times = new Map<string, number>()
  const evm = network.local.chains.filter(({ family }) => family === 'evm')
  const opened = await Promise.all(
    evm.map(async ({ name, rpcUrl }) => {
      const url = `${rpcUrl.replace(/^http/, 'ws')}?client=bench`
      const { value } = webSocket(url)({ retryCount: 0 })
      await value?.subscribe({
        params: ['newHeads'],
        onData: ({ result }: Head) => {
          if (result) times.set(`${name} ${BigInt(result.number)}`, Date.now())
        },
      })
      return value
    }),
  )
  return {
    at: (chain, block) => times.get(`${chain} ${block}`),
    stop: async () => {
      for (const transport of opened) (await transport?.getRpcClient())?.close()
    },
  }
}
