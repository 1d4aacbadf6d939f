/** The chain and the books, or the chain and the swaps, do not agree. Without a token it is about the whole chain. */
export type Drift = { why: string; token?: string; amount?: bigint; txHash?: string; swapId?: string }

/** Ends by itself when what was missing is there again; every other drift is for a person to judge. */
export const LESS_HELD = 'less is held than the books say'

export function describeDrift({ why, amount, token, txHash, swapId }: Drift): string {
  const what = amount === undefined ? '' : `: ${amount} of ${token}`
  return `${why}${what}${txHash ? ` in ${txHash}` : ''}${swapId ? ` of ${swapId}` : ''}`
}
