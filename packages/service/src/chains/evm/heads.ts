import type { Hex, PublicClient } from 'viem'
import { finalRereadMs } from '../../model/poll-pace.ts'
import type { Block, Heads } from '../chain.ts'
import type { WithBaseFee } from './fees.ts'
import type { EvmChainSettings } from './settings.ts'

/**
 * Reads the head and the blocks that count at each depth. A block that was final has to stay: where it does not, this
 * is another chain than before, or one that broke its promise, and nothing more is believed of it until a person has
 * looked and started the process again.
 */
export function createHeadReader(
  client: Pick<PublicClient, 'getBlock'>,
  { finality }: Pick<EvmChainSettings, 'finality'>,
): (known?: Heads) => Promise<Heads> {
  let final: Block | undefined
  let finalAt = 0

  const readBlock = async (number: bigint) => toBlock(await client.getBlock({ blockNumber: number }))
  const assertKept = async (before: Block): Promise<void> => {
    const { hash } = await readBlock(before.number)
    if (hash === before.hash) return
    throw new Error(`Block ${before.number} was final and is another one now: ${hash}, not ${before.hash}`)
  }

  return async (known) => {
    const head = toBlock(await client.getBlock({ blockTag: 'latest' }))
    if (known?.head.hash === head.hash) return known
    final ??= known?.hard
    const at = async (depth: number): Promise<Block> => {
      if (depth <= 1) return head
      const number = head.number - BigInt(depth - 1)
      return readBlock(number > 0n ? number : 0n)
    }
    const isFinalDue =
      !final || performance.now() - finalAt >= finalRereadMs(Number(head.number - final.number))
    const [accept, settle, hard] = await Promise.all([
      at(finality.accept),
      at(finality.settle),
      isFinalDue ? at(finality.hard) : final,
      isFinalDue && final && assertKept(final),
    ])
    if (hard && isFinalDue) {
      finalAt = performance.now()
      if (!final || hard.number > final.number) final = hard
    }
    return { head, accept, settle, hard: final ?? head }
  }
}

type NodeBlock = { number: bigint; hash: Hex; timestamp: bigint; baseFeePerGas: bigint | null }

function toBlock({ number, hash, timestamp, baseFeePerGas }: NodeBlock): Block & WithBaseFee {
  return { number, height: number, hash, seconds: Number(timestamp), baseFeeWei: baseFeePerGas ?? 0n }
}
