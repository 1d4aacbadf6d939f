type Side = { chainId: number; token: string }

/** What a stop is about. A part without a chain is every chain, without an asset every asset. */
export type StopScope =
  | { kind: 'part'; chainId?: number; asset?: string }
  | { kind: 'route'; from: Side; to: Side }

export type QuoteStop = {
  id: string
  /** Somebody paused it, or the chain and the books do not agree. */
  why: 'operator' | 'drift'
  scope: StopScope
  note: string
  by: string
  since: Date
}

/** One side of a swap. */
export type SwapSide = Side & { asset: string }

/** Whether a stop is about this side of a swap, whatever the other side is. */
export function stopsSide({ scope }: Pick<QuoteStop, 'scope'>, side: Omit<SwapSide, 'token'>): boolean {
  if (scope.kind === 'route') return false
  const isChain = scope.chainId === undefined || scope.chainId === side.chainId
  return isChain && (scope.asset === undefined || scope.asset === side.asset)
}

export function stopsSwap(stop: Pick<QuoteStop, 'scope'>, swap: { from: SwapSide; to: SwapSide }): boolean {
  if (stop.scope.kind === 'part') return stopsSide(stop, swap.from) || stopsSide(stop, swap.to)
  const isSame = (a: Side, b: Side) => a.chainId === b.chainId && a.token === b.token
  return isSame(stop.scope.from, swap.from) && isSame(stop.scope.to, swap.to)
}

/** A stop in words, for the person who reads a list. */
export function describeScope(scope: StopScope): string {
  if (scope.kind === 'route') {
    const { from, to } = scope
    return `${from.chainId}:${from.token} to ${to.chainId}:${to.token}`
  }
  const { chainId, asset } = scope
  if (chainId === undefined && asset === undefined) return 'everything'
  return [asset ?? 'everything', chainId === undefined ? 'on every chain' : `on chain ${chainId}`].join(' ')
}
