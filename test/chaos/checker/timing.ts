import { ENDS } from './coverage.ts'
import type { SwapRow } from './database.ts'
import { type Check, type Evidence, each } from './evidence.ts'
import { finalSecondsOf, type Head, type Input } from './input.ts'

// Checks for premature decisions: statements or signatures about a transaction before it had the required
// depth. The outcome may still be right, but only this rule keeps it right in a reorg.

// On top of finality, for a repeated delivery: see soft settling in money-safety.
const REDELIVERY_SECONDS = 60
// If minutes pass at once, a value read before may be written after: a paused process takes this long.
const DECISION_MS = 15_000
// The text of the holder of a stolen login where it cannot sign.
const LIE = 'garbage'

/**
 * The highest block possible at this time: at most the second head observed after it, however late a busy
 * machine observed it. Undefined if there was no later observation.
 */
function highest({ heads }: Input, chain: string, at: number, numberOf: (head: Head) => number | undefined) {
  const seen = heads.filter((head) => head.chain === chain)
  const next = seen.filter((head) => head.t >= at)
  const second = next[1]
  if (!second) return undefined
  const numbers = seen.filter((head) => head.t <= second.t).flatMap((head) => numberOf(head) ?? [])
  return numbers.length > 0 ? Math.max(...numbers) : undefined
}

function chainOf({ evm, input }: Evidence, chainId: number) {
  const name = evm.get(chainId)?.chain.name
  const config = input.setup.config.chains.find((chain) => chain.chainId === chainId)
  if (!name || !config) return undefined
  return { name, hard: config.finality.hard, finalSeconds: finalSecondsOf(config) }
}

/**
 * How many blocks a transaction lacked for finality at this time, by the chain's own tag or by depth if it
 * has none. 0 if it was final or finality is unknown.
 */
function lacking(evidence: Evidence, chainId: number, block: number, at: number): number {
  const chain = chainOf(evidence, chainId)
  if (!chain) return 0
  const { input } = evidence
  const final = highest(input, chain.name, at, (head) => head.final)
  if (final !== undefined) return Math.max(0, block - final)
  const head = highest(input, chain.name, at, ({ number }) => number)
  return head === undefined ? 0 : Math.max(0, block + chain.hard - 1 - head)
}

function movedTo({ db }: Evidence, swap: SwapRow, state: string): number | undefined {
  return db.moves.find(({ swap_id, was, became }) => swap_id === swap.id && became === state && was !== state)
    ?.at
}

/** `settled` before the delivery is final is allowed only while there is time to deliver again. */
export const settledInTime: Check = (evidence) =>
  each('INV-4', evidence.db.swaps, (swap) => {
    const at = movedTo(evidence, swap, 'settled')
    const [paid] = evidence.opEventsOf(swap, 'deliver')
    const chain = chainOf(evidence, swap.destination_chain)
    if (
      at === undefined ||
      !paid ||
      !chain ||
      lacking(evidence, swap.destination_chain, paid.block, at) === 0
    )
      return undefined
    const { heads, facts } = evidence.input
    const readAt = facts.shape ? at - DECISION_MS : at
    const { seconds = 0 } = heads.findLast((head) => head.chain === chain.name && head.t <= readAt) ?? {}
    const left = swap.fill_deadline - seconds
    const needed = chain.finalSeconds + REDELIVERY_SECONDS
    return left < needed - 1
      ? `${swap.id} was settled at inclusion with ${left} s left, of ${needed}`
      : undefined
  })

export const refundedInTime: Check = (evidence) =>
  each('INV-5', evidence.db.swaps, (swap) => {
    const at = movedTo(evidence, swap, 'refunded')
    const [back] = evidence.opEventsOf(swap, 'refund')
    if (at === undefined || !back) return undefined
    const lacks = lacking(evidence, swap.origin_chain, back.block, at)
    return lacks > 0 ? `${swap.id} was refunded ${lacks} blocks before its refund was final` : undefined
  })

/** On Solana all attesters have the same key, so the honest process with the stolen login may have signed alone. */
function isLie({ input }: Evidence, { written_by, signature }: Evidence['db']['attested'][number]): boolean {
  return written_by === input.setup.stolenLogin && (signature === LIE || signature.startsWith('0x'))
}

export const claimedInTime: Check = (evidence) =>
  each('INV-15', evidence.db.swaps, (swap) => {
    if (evidence.opEventsOf(swap, 'claim').length === 0) return undefined
    const [paid] = evidence.opEventsOf(swap, 'deliver')
    if (!paid) return `${swap.id} was claimed, and nothing was delivered`
    const signed = evidence.db.attested.filter(
      (attestation) =>
        attestation.kind === 'claim' &&
        attestation.swap_ids.includes(swap.id) &&
        !isLie(evidence, attestation),
    )
    if (signed.length === 0) return `${swap.id} was claimed, and nothing was attested`
    const at = Math.min(...signed.map((attestation) => attestation.at))
    const lacks = lacking(evidence, swap.destination_chain, paid.block, at)
    return lacks > 0 ? `${swap.id} was attested ${lacks} blocks before its delivery was final` : undefined
  })

const UNPAID = ['refundDecided', 'refunding', 'refundBlocked', ...ENDS.filter((end) => end !== 'settled')]

/** After the decision, no delivery may be signed. */
export const nothingSignedAfter: Check = ({ db }) =>
  each('INV-2', db.swaps, (swap) => {
    const decided = db.moves.find(({ swap_id, became }) => swap_id === swap.id && UNPAID.includes(became))
    if (!decided) return undefined
    const late = db.attempts.find(
      ({ role, swap_ids, at }) => role === 'deliver' && swap_ids.includes(swap.id) && at > decided.at,
    )
    return late && `${swap.id}: ${late.tx_hash} was signed after it became ${decided.became}`
  })
