import type { Address, Signature } from '@solana/kit'
import type { SolanaClient } from './client.ts'
import type { Depth } from './heads.ts'
import type { Marker } from './marker.ts'
import { isSame, type MarkerTransaction, readMade } from './marker-creation.ts'
import { remember } from './memory.ts'

const PAGE = 1_000
// Our own transactions are one creation and one sweep. A stranger who names a marker pays only a small fee.
const MAX_PAGES = 20
// Transactions with the op's memo are read one by one; a stranger may write it, too.
const MAX_READS = 100
// Reading an overlong history costs all these calls each time, and delays other reads.
const REST_MS = 60_000

type Query = { marker: Marker; opId: string; commitment?: Depth }

/** The history exceeds the limit, so the payment may be hidden in it. */
class EndlessHistoryError extends Error {
  override name = 'EndlessHistoryError'
}

/**
 * Finds our transaction that created an existing marker. Strangers can send lamports to a known marker, and write any
 * memo: only a creation signed by the marker's base counts. Throws if no transaction explains the account: the node
 * lacks its history, and assuming a stranger would pay twice.
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
      if (!read) throw new Error(`The node lists ${signature} but does not return it`)
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

/** The same search, but pauses for a while on a history that exceeds the limit. */
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
