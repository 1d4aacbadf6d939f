/** Attesters of an escrow: `threshold` of its members must sign. Addresses are checksummed. */
export type AttesterSet = { members: readonly string[]; threshold: number }

/** The sets of a configuration: two during a change. */
type Sets = { attesters: AttesterSet; nextAttesters?: AttesterSet }

/** The addresses of all attesters, each once: during a change, those of both sets. */
export function attesterAddresses({ attesters, nextAttesters }: Sets): string[] {
  const all = [...attesters.members, ...(nextAttesters?.members ?? [])]
  return [...new Map(all.map((address) => [address.toLowerCase(), address])).values()]
}

// See docs/decisions.md#the-refund-deadline-chooses-attesters.
/** `since`: the first refund deadline of the ops that the set decides. */
export type DatedSet = AttesterSet & { since: number }

/** `readyAt`: the first moment at which the set can be accepted, by the chain's clock. */
export type ProposedSet = AttesterSet & { readyAt: number }

/** A set that follows; `since` of a proposed one is the earliest. `foreign`: accepted, and not in the configuration. */
export type AttesterChange = DatedSet & { kind: 'proposed' | 'accepted' | 'foreign' }

/** An op is held for at most 7 days, and a set decides only ops that are locked after its acceptance. */
const HOLD_SECONDS = 7 * 24 * 3_600

type Escrow = {
  /** Those that decide refund deadlines from now on. */
  sets: readonly DatedSet[]
  proposed: ProposedSet | undefined
  configured: readonly AttesterSet[]
  seconds: number
}

/** The next change of an escrow's attesters. A foreign set counts as one for as long as it decides. */
export function findAttesterChange({
  sets,
  proposed,
  configured,
  seconds,
}: Escrow): AttesterChange | undefined {
  const known = configured.map(keyOfSet)
  const foreign = sets.find((set) => !known.includes(keyOfSet(set)))
  if (foreign) return { ...foreign, kind: 'foreign' }
  const accepted = sets.find(({ since }) => since > seconds)
  if (accepted) return { ...accepted, kind: 'accepted' }
  if (!proposed) return undefined
  const { readyAt, ...set } = proposed
  return { ...set, since: Math.max(readyAt, seconds) + HOLD_SECONDS + 1, kind: 'proposed' }
}

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
