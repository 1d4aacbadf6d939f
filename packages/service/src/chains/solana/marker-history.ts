import type { Address, Signature } from '@solana/kit'
import type { SolanaClient } from './client.ts'
import type { Depth } from './heads.ts'
import type { Marker } from './marker.ts'
import { isSame, type MarkerTransaction, readMade } from './marker-creation.ts'
import { remember } from './memory.ts'

const PAGE = 1_000
// Ours are one creation and one sweep. Whoever names a marker pays a fee for it, and a small one.
const MAX_PAGES = 20
// Those that bear the op's memo are read one by one; a stranger may write it, too.
const MAX_READS = 100
// A history that is too long costs all of that each time, and what is asked beside it has to wait.
const REST_MS = 60_000

type Query = { marker: Marker; opId: string; commitment?: Depth }

/** More than anyone can look through: what it hides cannot be told. */
class EndlessHistoryError extends Error {
  override name = 'EndlessHistoryError'
}

/**
 * The one transaction that created a marker that is there, if ours did. Strangers can send lamports to a marker
 * once it is known, and write what memo they like: only one signed by the marker's base that creates it counts.
 * An account without any transaction that could have made it is one whose history the node does not have, or not
 * yet: taken for a stranger's doing, what was paid would be paid again.
 */
export async function findMarkerTransaction(
  client: SolanaClient,
  { marker, opId, commitment = 'confirmed' }: Query,
): Promise<MarkerTransaction | undefined> {
  let before: Signature | undefined
  let isExplained = false
  let reads = 0
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const options = { commitment, limit: PAGE, ...(before && { before }) }
    const found = await client.rpc.getSignaturesForAddress(marker.address as Address, options).send()
    for (const { signature, slot, err, memo } of found) {
      if (err !== null) continue
      isExplained = true
      if (!memo?.includes(opId)) continue
      reads += 1
      if (reads > MAX_READS) throw endless(marker)
      const read = await readMade(client, { txHash: signature, base: marker.base, commitment })
      if (!read) throw new Error(`The node names ${signature} and does not know it`)
      const { made } = read
      if (made?.markers.some((each) => isSame(each, marker))) return { ...made.transaction, slot }
    }
    before = found.at(-1)?.signature
    if (found.length === PAGE) continue
    if (isExplained) return undefined
    throw new Error(`The node has marker ${marker.address} without its history`)
  }
  throw endless(marker)
}

const endless = ({ address }: Marker) =>
  new EndlessHistoryError(`The history of marker ${address} does not end`)

/** The same search, except that a history without an end is left alone for a while once that is known. */
export function createHistorySearch(client: SolanaClient) {
  const resting = new Map<string, { fault: EndlessHistoryError; until: number }>()
  return async (query: Query & { commitment: Depth }): Promise<MarkerTransaction | undefined> => {
    const name = `${query.marker.address}:${query.commitment}`
    const known = resting.get(name)
    if (known && performance.now() < known.until) throw known.fault
    resting.delete(name)
    try {
      return await findMarkerTransaction(client, query)
    } catch (fault) {
      if (fault instanceof EndlessHistoryError)
        remember(resting, name, () => ({ fault, until: performance.now() + REST_MS }))
      throw fault
    }
  }
}
