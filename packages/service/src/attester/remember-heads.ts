import type { Chain, Heads } from '../chains/chain.ts'

// Final blocks stay final: a sweep every second need not read newer ones each time.
const HEADS_MS = 3_000

/** The same chain with heads that are cached for a few seconds. */
export function rememberHeads(chain: Chain): Chain {
  let known: { at: number; heads: Promise<Heads> } | undefined
  const readHeads = () => {
    if (known && performance.now() - known.at < HEADS_MS) return known.heads
    const heads = chain.readHeads()
    known = { at: performance.now(), heads }
    heads.catch(() => {
      known = undefined
    })
    return heads
  }
  return { ...chain, readHeads }
}
