/** How deep a lock of a value has to be before it is paid for. Without `belowUsd` it holds for every value. */
export type AcceptTier = { belowUsd?: number | undefined; depth: number }

/** The depths of one chain. A depth counts blocks, the newest is at depth 1; `hard` or deeper means final. */
export type FinalityRules = {
  accept: readonly AcceptTier[]
  /** A delivery this deep is reported as settled. */
  settle: number
  /** How long a reorg of the usual kind may take to include the same bytes again. Not finality. */
  reorgWindowSeconds: number
  /** No block above this depth is final, even if the node says so. */
  hard: number
  /** How long finality may take. */
  hardSeconds: number
}

type Numbered = { number: bigint }
export type Depths = { head: Numbered; hard: Numbered }

/** The depth that a lock of this value needs. The tiers rise, and the last one has no limit. */
export function acceptDepthOf({ accept, hard }: FinalityRules, valueCents: bigint): number {
  const tier = accept.find(({ belowUsd }) => belowUsd === undefined || valueCents < BigInt(belowUsd) * 100n)
  return tier?.depth ?? hard
}

/** The newest block that has this depth. A chain that is final at `hard` has nothing between. */
export function blockAtDepth({ hard }: Pick<FinalityRules, 'hard'>, depth: number, at: Depths): bigint {
  if (depth >= hard) return at.hard.number
  const number = at.head.number - BigInt(depth - 1)
  return number > at.hard.number ? number : at.hard.number
}

/** Time from a transaction's broadcast until its block has this depth, if the next block includes it. */
export function secondsToDepth(rules: FinalityRules, blockSeconds: number, depth: number): number {
  return depth >= rules.hard ? rules.hardSeconds : depth * blockSeconds
}

/** Slower than this many times its configured finality, a chain is neither quoted nor paid on. */
export const MAX_SLOWDOWN = 3

/**
 * The finality to count with: the configured one, or the next multiple of it above the measured one. Multiples, because
 * a rebuild has to find out from the deadlines of an op how slow its chains were taken to be.
 */
export function expectedHardSeconds(configured: number, measured: number | undefined): number {
  if (measured === undefined || measured <= configured) return configured
  return configured * Math.min(Math.ceil(measured / configured), MAX_SLOWDOWN)
}

/** Every value that `expectedHardSeconds` may have returned. */
export function possibleHardSeconds(configured: number): number[] {
  return Array.from({ length: MAX_SLOWDOWN }, (_, index) => configured * (index + 1))
}

/** Whether finality takes so long that the deadlines of an op no longer bound it. */
export function isTooSlow(configured: number, measured: number | undefined): boolean {
  return measured !== undefined && measured > MAX_SLOWDOWN * configured
}
