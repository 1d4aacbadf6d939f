import { majorityOf } from '../nodes/agree.ts'
import { readAccounts } from './accounts.ts'
import type { SolanaClient } from './client.ts'
import type { MarkerQuery } from './reads.ts'

type Node = SolanaClient['nodes'][number]

/** What all nodes that answer say. Decisions about money need a majority of them. */
async function askAll<T>({ nodes }: SolanaClient, ask: (node: Node) => Promise<T>): Promise<T[]> {
  const answers = await Promise.allSettled(nodes.map(ask))
  const heard = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
  const needed = neededOf({ nodes })
  if (heard.length < needed) throw new Error(`${heard.length} of ${needed} nodes answered`)
  return heard
}

function neededOf({ nodes }: Pick<SolanaClient, 'nodes'>): number {
  return majorityOf(nodes.length)
}

/**
 * A finalized slot past the life of everything signed for this height, once enough nodes have reached one;
 * undefined until then. Nothing of that life can land any more: read its markers with this minimum slot.
 */
export async function findExpirySlot(
  client: SolanaClient,
  { lastValidBlockHeight }: { lastValidBlockHeight: bigint },
): Promise<bigint | undefined> {
  const heads = await askAll(client, (rpc) => rpc.getEpochInfo({ commitment: 'finalized' }).send())
  const past = heads.filter(({ blockHeight }) => blockHeight > lastValidBlockHeight)
  if (past.length < neededOf(client)) return undefined
  const [lowest] = past.map(({ absoluteSlot }) => absoluteSlot).sort((a, b) => Number(a - b))
  return lowest
}

/** Whether each marker exists. One is absent only if all nodes that answer say so. */
export async function readMarkersByQuorum(
  client: SolanaClient,
  query: MarkerQuery,
): Promise<Map<string, boolean>> {
  const heard = await askAll(client, (rpc) => readAccounts({ rpc }, query))
  return new Map(
    query.addresses.map((address, index) => [address, heard.some((accounts) => accounts[index])]),
  )
}
