type Side = { chainId: number; token: string }

/** The scope of a stop. A part without `chainId` covers every chain, without `asset` every asset. */
export type StopScope =
  | { kind: 'part'; chainId?: number; asset?: string }
  | { kind: 'route'; from: Side; to: Side }

export type QuoteStop = {
  id: string
  /** An operator paused it, or chain and books disagree. */
  why: 'operator' | 'drift'
  scope: StopScope
  note: string
  by: string
  since: Date
}

export type SwapSide = Side & { asset: string }

/** Whether a stop covers this side of a swap, whatever the other side is. */
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

/** Describes the scope of a stop for people. */
export function describeScope(scope: StopScope): string {
  if (scope.kind === 'route') {
    const { from, to } = scope
    return `${from.chainId}:${from.token} to ${to.chainId}:${to.token}`
  }
  const { chainId, asset } = scope
  if (chainId === undefined && asset === undefined) return 'everything'
  return [asset ?? 'everything', chainId === undefined ? 'on every chain' : `on chain ${chainId}`].join(' ')
}
