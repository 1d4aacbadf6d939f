import type { Hex } from 'viem'
import { delay } from '../bench/clock.ts'
import type { Random } from '../bench/random.ts'
import type { WorldChain } from '../world.ts'

type Options = {
  chain: WorldChain
  depth: number
  /** Deeper than this it does not happen: on a busy machine blocks come while one looks. */
  deepest: number
  /** Whether what was undone is offered again, in another order, or left for its sender to notice. */
  keeps: boolean
  raws: Map<string, string>
  random: Random
}

/** Undoes the last blocks. Returns how many, and how many transactions they held; undefined when too late for it. */
export async function reorg({ chain, depth, deepest, keeps, raws, random }: Options) {
  const { client } = chain
  const from = await client.getBlockNumber({ cacheTime: 0 })
  const id = await client.snapshot()
  let head = await client.getBlockNumber({ cacheTime: 0 })
  // A block came between: nobody knows which of the two the snapshot is of.
  if (head !== from) return undefined
  while (head < from + BigInt(depth)) {
    await delay(30)
    head = await client.getBlockNumber({ cacheTime: 0 })
  }
  await chain.halt()
  try {
    head = await client.getBlockNumber({ cacheTime: 0 })
    if (head - from > BigInt(deepest)) return undefined
    const hashes: Hex[] = []
    for (let number = from + 1n; number <= head; number += 1n) {
      hashes.push(...(await client.getBlock({ blockNumber: number })).transactions)
    }
    await client.revert({ id })
    if (keeps) await resend(chain, hashes, raws, random)
    await client.mine({ blocks: 1 })
    return { blocks: Number(head - from), transactions: hashes.length }
  } finally {
    await chain.resume()
  }
}

async function resend(chain: WorldChain, hashes: readonly Hex[], raws: Map<string, string>, random: Random) {
  const known = hashes.flatMap((hash) => raws.get(hash) ?? [])
  const shuffled = known.map((raw) => ({ raw, key: random.next() })).sort((a, b) => a.key - b.key)
  for (const { raw } of shuffled) {
    // A nonce out of its turn waits in the pool; one that was taken meanwhile is refused, which is the point.
    await chain.client.sendRawTransaction({ serializedTransaction: raw as Hex }).catch(() => undefined)
  }
}
