import { groupBy } from '../../model/group.ts'
import type { SolanaClient } from './client.ts'
import type { Depth } from './heads.ts'
import type { Marker, MarkerKind } from './marker.ts'
import { type MarkerTransaction, readMade } from './marker-creation.ts'

/**
 * Recorded transactions of one kind of payment, by op id, the likeliest first. The record may be incomplete or wrong:
 * the chain decides what they did.
 */
export type FindSigned = (
  kind: MarkerKind,
  ids: readonly string[],
) => Promise<ReadonlyMap<string, readonly string[]>>

type Ref = { kind: MarkerKind; id: string }

/** Finds the recorded transactions of these payments, with one query per kind. */
export async function findAllSigned<T extends Ref>(
  findSigned: FindSigned | undefined,
  refs: readonly T[],
): Promise<Map<T, readonly string[]>> {
  if (!findSigned) return new Map()
  const byKind = await Promise.all(
    [...groupBy(refs, ({ kind }) => kind)].map(async ([kind, group]) => {
      const ids = group.map(({ id }) => id)
      const signed = await findSigned(kind, ids)
      return group.map((ref) => [ref, signed.get(ref.id) ?? []] as const)
    }),
  )
  return new Map(byKind.flat())
}

type Query = {
  txHashes: readonly string[]
  base: string
  opId: string
  commitment: Depth
  isOurs(made: Marker): Promise<boolean>
}

/**
 * Finds the transaction that created a marker of the payment, by its own content. An unknown or unreadable transaction
 * proves nothing.
 */
export async function findAmongSigned(
  client: SolanaClient,
  { txHashes, base, opId, commitment, isOurs }: Query,
): Promise<MarkerTransaction | undefined> {
  const all = await Promise.all(
    [...new Set(txHashes)].map((txHash) =>
      readMade(client, { txHash, base, commitment }).catch(() => undefined),
    ),
  )
  for (const { made } of all.flatMap((read) => read ?? [])) {
    if (!made?.memos.some((memo) => memo.includes(opId))) continue
    for (const marker of made.markers) if (await isOurs(marker)) return made.transaction
  }
  return undefined
}
