import type { Hex } from 'viem'
import { delay } from '../bench/clock.ts'
import type { Random } from '../bench/random.ts'
import type { WorldChain } from '../world.ts'

type Options = {
  chain: WorldChain
  depth: number
  /** Whether to revert the blocks with these transactions; checked at each block. By default at full depth. */
  isDue?(hashes: readonly Hex[]): Promise<boolean>
  /** Called while the chain is halted, before it reverts to this block. */
  beforeRevert?(block: bigint): Promise<void>
  /** Not deeper than this: on a busy machine blocks may arrive meanwhile. */
  deepest: number
  /** Whether reverted transactions are sent again, in another order, or left for their sender to notice. */
  keeps: boolean
  raws: Map<string, string>
  random: Random
}

/**
 * Reverts the last blocks. Returns their number and that of their transactions; undefined if it is too late.
 */
export async function reorg(options: Options) {
  const { chain, deepest, keeps, raws, random } = options
  const { client } = chain
  const from = await client.getBlockNumber({ cacheTime: 0 })
  const id = await client.snapshot()
  // A block arrived in between: it is unknown which of the two the snapshot has.
  if ((await client.getBlockNumber({ cacheTime: 0 })) !== from) return undefined
  if (!(await untilDue(options, from))) return undefined
  await chain.halt()
  try {
    const head = await client.getBlockNumber({ cacheTime: 0 })
    if (head - from > BigInt(deepest)) return undefined
    const hashes = await hashesBetween(chain, from, head)
    await options.beforeRevert?.(from)
    await client.revert({ id })
    if (keeps) await resend(chain, hashes, raws, random)
    await client.mine({ blocks: 1 })
    return { blocks: Number(head - from), transactions: hashes.length }
  } finally {
    await chain.resume()
  }
}

/** Until the chain has as many blocks, or earlier if the revert is due. False if it is not due by then. */
async function untilDue({ chain, depth, isDue }: Options, from: bigint): Promise<boolean> {
  for (;;) {
    const head = await chain.client.getBlockNumber({ cacheTime: 0 })
    if (isDue && (await isDue(await hashesBetween(chain, from, head)))) return true
    if (head >= from + BigInt(depth)) return isDue === undefined
    await delay(30)
  }
}

async function hashesBetween({ client }: WorldChain, from: bigint, to: bigint): Promise<Hex[]> {
  const hashes: Hex[] = []
  for (let number = from + 1n; number <= to; number += 1n)
    hashes.push(...(await client.getBlock({ blockNumber: number })).transactions)
  return hashes
}

async function resend(chain: WorldChain, hashes: readonly Hex[], raws: Map<string, string>, random: Random) {
  const known = hashes.flatMap((hash) => raws.get(hash) ?? [])
  const shuffled = known.map((raw) => ({ raw, key: random.next() })).sort((a, b) => a.key - b.key)
  for (const { raw } of shuffled) {
    // A nonce gap waits in the pool; a nonce consumed meanwhile is refused, as intended.
    await chain.client.sendRawTransaction({ serializedTransaction: raw as Hex }).catch(() => undefined)
  }
}
