const MAX_WALLETS = 50_000

/** Recently seen delegated wallets, whose quotes need not price an authorization. */
export function createKnownWallets() {
  const seen = new Set<string>()
  return {
    has: (chainId: number, wallet: string) => seen.has(`${chainId}:${wallet}`),
    add(chainId: number, wallet: string) {
      if (seen.size >= MAX_WALLETS) seen.clear()
      seen.add(`${chainId}:${wallet}`)
    },
  }
}
