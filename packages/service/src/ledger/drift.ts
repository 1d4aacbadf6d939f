/** A disagreement between the chain and the books or the swaps. Without a token it concerns the whole chain. */
export type Drift = { why: string; token?: string; amount?: bigint; txHash?: string; swapId?: string }

/** Ends by itself once the missing amount is back. Every other drift needs an operator. */
export const LESS_HELD = 'less is held than the books say'

export function describeDrift({ why, amount, token, txHash, swapId }: Drift): string {
  const what = amount === undefined ? '' : `: ${amount} of ${token}`
  return `${why}${what}${txHash ? ` in ${txHash}` : ''}${swapId ? ` of ${swapId}` : ''}`
}
