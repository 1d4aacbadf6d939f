import { majorityOf } from '../nodes/agree.ts'
import type { SolanaClient } from './client.ts'

/** Whether most nodes have finalized a block past this height: nothing valid up to it can still land. */
export async function isExpiredByMajority({ nodes }: SolanaClient, height: bigint): Promise<boolean> {
  const answers = await Promise.allSettled(
    nodes.map((rpc) => rpc.getEpochInfo({ commitment: 'finalized' }).send()),
  )
  const heads = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
  const needed = majorityOf(nodes.length)
  if (heads.length < needed) throw new Error(`${heads.length} of ${needed} nodes answered`)
  return heads.filter(({ blockHeight }) => blockHeight > height).length >= needed
}
