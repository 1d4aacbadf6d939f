import type { Waiting, WaitingReason } from '@geoswap/wire'

/** The depth that a lock needs before its output is delivered. A tier without `belowUsd` applies to every value. */
type AcceptTier = { belowUsd?: number | undefined; depth: number }

/** The premium of a step, and the depth that its locks need: never less than `accept` asks. */
export type FastTier = { belowUsd?: number | undefined; depth?: number | undefined; premiumCentiBps: number }

/** Of chains without steps of their own. */
export const defaultFastTiers: readonly FastTier[] = [
  { belowUsd: 100_000, premiumCentiBps: 100 },
  { premiumCentiBps: 200 },
]

// See docs/decisions.md#four-depths.
/** The depths of one chain, in blocks; the newest block has depth 1. `hard` and deeper mean final. */
export type FinalityRules = {
  accept: readonly AcceptTier[]
  /** The steps of swaps that are paid before finality for a premium. */
  fast?: readonly FastTier[] | undefined
  /** A delivery at this depth is reported as settled. */
  settle: number
  /** The time within which a transaction is included again after a common reorg. Shorter than finality. */
  reorgWindowSeconds: number
  /** A block closer to the head is not final, even if the node reports it as final. */
  hard: number
  /** The longest usual time to finality. */
  hardSeconds: number
}

type Numbered = { number: bigint }
export type Depths = { head: Numbered; hard: Numbered }

/** The depth that a lock of this value needs. Tiers rise; the last one has no limit. */
export function acceptDepthOf({ accept, hard }: FinalityRules, valueCents: bigint): number {
  return tierOf(accept, valueCents)?.depth ?? hard
}

const tierOf = <Tier extends { belowUsd?: number | undefined }>(tiers: readonly Tier[], valueCents: bigint) =>
  tiers.find(({ belowUsd }) => belowUsd === undefined || valueCents < BigInt(belowUsd) * 100n)

type Fast = { depth: number; premiumCentiBps: bigint }

/** How a lock of this value is paid for before it is final; undefined if that is not before finality. */
export function fastOf(rules: FinalityRules, valueCents: bigint): Fast | undefined {
  const tier = tierOf(rules.fast ?? defaultFastTiers, valueCents)
  if (!tier) return undefined
  const depth = Math.max(tier.depth ?? 0, acceptDepthOf(rules, valueCents))
  return depth >= rules.hard ? undefined : { depth, premiumCentiBps: BigInt(tier.premiumCentiBps) }
}

/** The depth from which the lock of an op may be paid for. */
export function lockDepthOf(
  rules: FinalityRules,
  { valueCents, fastOutput }: { valueCents: bigint; fastOutput: bigint },
): number {
  const accepted = acceptDepthOf(rules, valueCents)
  return fastOutput > 0n ? (fastOf(rules, valueCents)?.depth ?? accepted) : accepted
}

/** The newest block at this depth. At the `hard` depth it is the final block. */
export function blockAtDepth({ hard }: Pick<FinalityRules, 'hard'>, depth: number, at: Depths): bigint {
  if (depth >= hard) return at.hard.number
  const number = at.head.number - BigInt(depth - 1)
  return number > at.hard.number ? number : at.hard.number
}

/** Seconds from broadcast until the transaction's block has this depth, if the next block includes it. */
export function secondsToDepth(rules: FinalityRules, blockSeconds: number, depth: number): number {
  return depth >= rules.hard ? rules.hardSeconds : depth * blockSeconds
}

/** A chain that is slower than this multiple of its configured finality is neither quoted nor delivered on. */
export const MAX_SLOWDOWN = 3

/**
 * The finality to plan with: the configured one, or the next multiple of it above the measured one. Multiples let a
 * rebuild infer the assumed finality from an op's deadlines.
 */
export function expectedHardSeconds(configured: number, measured: number | undefined): number {
  if (measured === undefined || measured <= configured) return configured
  return configured * Math.min(Math.ceil(measured / configured), MAX_SLOWDOWN)
}

/** Every value that `expectedHardSeconds` may have returned. */
export function possibleHardSeconds(configured: number): number[] {
  return Array.from({ length: MAX_SLOWDOWN }, (_, index) => configured * (index + 1))
}

/** Whether finality is too slow for the deadlines of an op. */
export function isTooSlow(configured: number, measured: number | undefined): boolean {
  return measured !== undefined && measured > MAX_SLOWDOWN * configured
}

export function describeSeconds(seconds: number): string {
  return seconds < 120 ? `${Math.ceil(seconds)} seconds` : `${Math.round(seconds / 60)} minutes`
}

/** That a swap waits until this second, when its lock or delivery is expected to be final. */
export function waitingFor(reason: WaitingReason, seconds: number): Waiting {
  return { reason, until: new Date(seconds * 1_000).toISOString() }
}

type Configured = {
  finality: Omit<FinalityRules, 'hardSeconds'> & { hardSeconds?: number | undefined }
  blockMs: number
}

/** The finality rules of a configured chain. `hardSeconds` defaults to the time of `hard` blocks. */
export function finalityOf({ finality, blockMs }: Configured): FinalityRules {
  const { hardSeconds = Math.ceil((finality.hard * blockMs) / 1_000), ...depths } = finality
  return { ...depths, hardSeconds }
}

export const blockSecondsOf = ({ blockMs }: { blockMs: number }): number => blockMs / 1_000

/** How long a head may stand still before the chain counts as down: five blocks, and at least 15 s. */
export function maxHeadAgeMs(chain: { blockMs: number; maxHeadAgeMs?: number }): number {
  return chain.maxHeadAgeMs ?? Math.max(15_000, 5 * chain.blockMs)
}
