/** Attesters of an escrow: `threshold` of its members must sign. Addresses are checksummed. */
export type AttesterSet = { members: readonly string[]; threshold: number }

/** A set that the treasury proposed. `readyAt`: the first moment at which it can be accepted, by the chain's clock. */
export type AttesterChange = AttesterSet & { readyAt: number }

/** Equal for equal sets, whatever the order of their members. */
export function keyOfSet({ members, threshold }: AttesterSet): string {
  return `${threshold} of ${[...members].sort(byAddress).join(', ')}`
}

/** The order in which the escrow expects signers: by number. */
export function byAddress(a: string, b: string): number {
  const [left, right] = [a.toLowerCase(), b.toLowerCase()]
  if (left === right) return 0
  return left < right ? -1 : 1
}
