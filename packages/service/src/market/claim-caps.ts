type Token = { chainId: number; address: string }

type Options = {
  tokens: readonly Token[]
  /** Undefined where nothing bounds what is claimed in an hour. */
  readCap(token: Token): Promise<bigint | undefined>
  now(): number
}

// The treasury changes caps once in a while, and what is locked is judged by the worker's own look.
const MAX_AGE_MS = 10_000

/** `unknown` until its chain has answered once; what it said then is kept while it is silent. */
export type ClaimCapOf = (chainId: number, token: string) => bigint | 'none' | 'unknown'

/** The claim caps of all tokens, in memory. */
export function createClaimCaps({ tokens, readCap, now }: Options) {
  const caps = new Map<string, bigint | 'none'>()
  const due = new Map<number, number>()

  async function refreshChain(chainId: number): Promise<void> {
    if (now() < (due.get(chainId) ?? 0)) return
    const mine = tokens.filter((token) => token.chainId === chainId)
    const read = await Promise.all(mine.map(async (token) => [token, await readCap(token)] as const))
    for (const [{ address }, cap] of read) caps.set(keyOf(chainId, address), cap ?? 'none')
    due.set(chainId, now() + MAX_AGE_MS)
  }

  const claimCapOf: ClaimCapOf = (chainId, token) => caps.get(keyOf(chainId, token)) ?? 'unknown'
  const chainIds = [...new Set(tokens.map(({ chainId }) => chainId))]
  return { claimCapOf, refreshers: chainIds.map((chainId) => () => refreshChain(chainId)) }
}

const keyOf = (chainId: number, token: string) => `${chainId}:${token}`
