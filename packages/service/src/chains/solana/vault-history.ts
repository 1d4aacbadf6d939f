import type { Address, Signature } from '@solana/kit'
import { agree } from '../nodes/agree.ts'
import type { SolanaClient } from './client.ts'

export type HistoryEntry = { signature: string; slot: bigint; memo: string | null }

type Range = { since: bigint; upTo: bigint }

const PAGE = 1_000

/** The finalized transactions that touched any of these accounts after one slot and up to another, oldest first. */
export async function readHistory(
  client: SolanaClient,
  addresses: readonly string[],
  range: Range,
): Promise<HistoryEntry[]> {
  const pages = await Promise.all(addresses.map((address) => readOne(client, address, range)))
  const bySignature = new Map(pages.flat().map((entry) => [entry.signature, entry]))
  return [...bySignature.values()].sort((a, b) => Number(a.slot - b.slot))
}

/** The entries of the range that a majority of the nodes agrees on: newer ones differ between nodes. */
function readOne({ nodes }: SolanaClient, address: string, range: Range): Promise<HistoryEntry[]> {
  const asked = nodes.map((rpc) => readFrom(rpc, address, range))
  return agree(asked, (entries) =>
    entries.map(({ signature, slot, memo }) => `${signature} ${slot} ${memo}`).join(),
  )
}

type Node = SolanaClient['nodes'][number]

async function readFrom(rpc: Node, address: string, { since, upTo }: Range): Promise<HistoryEntry[]> {
  const entries: HistoryEntry[] = []
  let before: Signature | undefined
  for (;;) {
    const options = {
      commitment: 'finalized',
      limit: PAGE,
      minContextSlot: upTo,
      ...(before && { before }),
    } as const
    const page = await rpc.getSignaturesForAddress(address as Address, options).send()
    for (const { signature, slot, memo } of page) {
      if (slot <= since) return entries
      if (slot <= upTo) entries.push({ signature, slot, memo })
    }
    before = page.at(-1)?.signature
    if (page.length < PAGE || !before) return entries
  }
}
