import type { Block, Heads } from '../chain.ts'
import type { SolanaClient } from './client.ts'
import { type Depth, type Lifetime, readHeads, type SolanaHeads } from './heads.ts'

/** A slot at a commitment: accounts are read at that commitment, from a node that has reached the slot. */
export type SolanaBlock = Block & { commitment: Depth }
type SolanaBlocks = Heads & { known: SolanaHeads }

/** `confirmed` is the soft head, `finalized` the final one. */
export async function readBlocks(client: SolanaClient, known?: Heads): Promise<SolanaBlocks> {
  const before = known as SolanaBlocks | undefined
  const heads = await readHeads(client, before?.known)
  if (before && heads === before.known) return before
  const head = toBlock(heads, 'confirmed')
  return { head, settle: head, hard: toBlock(heads, 'finalized'), known: heads }
}

/** The blockhash of the newest block; undefined in a view of an earlier version. */
export function lifetimeOf(heads: Heads): Lifetime | undefined {
  return (heads as SolanaBlocks).known?.confirmed.lifetime
}

function toBlock(heads: SolanaHeads, commitment: Depth): SolanaBlock {
  const { slot, height, seconds } = heads[commitment]
  return { number: slot, height, hash: `${commitment} ${slot}`, seconds, commitment }
}
