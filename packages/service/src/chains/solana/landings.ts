import type { Signature } from '@solana/kit'
import { chunksOf } from '../../model/group.ts'
import { majorityOf } from '../nodes/agree.ts'
import type { SolanaClient } from './client.ts'
import type { Depth } from './heads.ts'

/** The transaction that made a step of an op. */
export type Landing = { txHash: string; slot: bigint }

// Agave's limit per request.
const MAX_STATUSES = 256
const REACHED: Record<Depth, readonly string[]> = {
  confirmed: ['confirmed', 'finalized'],
  finalized: ['finalized'],
}

/**
 * The transactions among these that a majority of the nodes shows as landed in the same slot, without an error. A
 * missing one proves nothing.
 */
export async function readLandings(
  { nodes }: SolanaClient,
  txHashes: readonly string[],
  commitment: Depth,
): Promise<Map<string, Landing>> {
  const landed = new Map<string, Landing>()
  const needed = majorityOf(nodes.length)
  const read = async (some: readonly string[]) => {
    const answers = await Promise.allSettled(nodes.map((node) => readFrom(node, some, commitment)))
    const seen = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
    if (seen.length < needed) throw new Error(`${seen.length} of ${needed} nodes answered`)
    for (const [at, txHash] of some.entries()) {
      const slots = seen.flatMap((slotsOf) => slotsOf[at] ?? [])
      const slot = slots.find((each) => slots.filter((other) => other === each).length >= needed)
      if (slot !== undefined) landed.set(txHash, { txHash, slot })
    }
  }
  await Promise.all(chunksOf([...new Set(txHashes)], MAX_STATUSES).map(read))
  return landed
}

type Node = SolanaClient['nodes'][number]

async function readFrom(
  node: Node,
  txHashes: readonly string[],
  commitment: Depth,
): Promise<(bigint | undefined)[]> {
  const options = { searchTransactionHistory: true }
  const { value } = await node.getSignatureStatuses(txHashes as Signature[], options).send()
  return value.map((status) => {
    const isReached = REACHED[commitment].includes(status?.confirmationStatus ?? '')
    return status && status.err === null && isReached ? status.slot : undefined
  })
}
