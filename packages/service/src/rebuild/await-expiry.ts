import type { Block } from '../chains/chain.ts'
import { mapOwn } from '../isolate.ts'
import { longestLife } from '../model/deadlines.ts'
import type { RebuildChain, RebuildDeps } from './deps.ts'

type WaitingChain = { chain: RebuildChain['chain']; isExpired(hard: Block): boolean }

/**
 * Waits until no earlier signature can take an input or be sent any more. Waits for all chains in parallel, so that the
 * slowest determines the duration.
 */
export async function awaitExpiry(
  deps: Pick<RebuildDeps, 'deadlines' | 'wait' | 'say'> & {
    chains: readonly Pick<RebuildChain, 'chain' | 'recovery'>[]
  },
): Promise<void> {
  let waiting = await mapOwn(deps.chains, (each) => findEnd(each, deps))
  for (;;) {
    const seen = await mapOwn(waiting, async (each) => ({
      each,
      isExpired: each.isExpired((await each.chain.readHeads()).hard),
    }))
    waiting = seen.filter(({ isExpired }) => !isExpired).map(({ each }) => each)
    if (waiting.length === 0) return
    await deps.wait()
  }
}

type Ending = Pick<RebuildDeps, 'deadlines' | 'say'>

async function findEnd(
  { chain, recovery }: Pick<RebuildChain, 'chain' | 'recovery'>,
  { deadlines, say }: Ending,
): Promise<WaitingChain> {
  const { head } = await chain.readHeads()
  const height = recovery.expiryOf(head)
  // A lock that was sent can land as long as its op lives, and that of a deposit lives longest.
  const { opLifeSeconds, lockInclusionSeconds } = chain.ways ? longestLife(deadlines) : deadlines
  const seconds = head.seconds + opLifeSeconds + lockInclusionSeconds
  const end = height === undefined ? new Date(seconds * 1_000).toISOString() : `height ${height}`
  say(`chain ${chain.chainId}: waiting until ${end} is final`)
  return {
    chain,
    isExpired: (hard) => (height === undefined ? hard.seconds > seconds : hard.height > height),
  }
}
