import { largest } from './amount.ts'
import { acceptDepthOf, defaultFastTiers, type FinalityRules, fastOf, secondsToDepth } from './finality.ts'

export type RouteEnd = { finality: FinalityRules; blockSeconds: number }

// Notifications and reads of database and nodes, of both legs; nodes may lag a little.
const SERVICE_SECONDS = 1
// A quote names the time that 8 of 10 swaps keep. Twice the planned one is late by any measure.
const LATE_TIMES = 2
// Fewer samples say too little; older ones are out of date.
const MIN_SAMPLES = 20
export const MAX_SAMPLES = 100
const KEPT_PERCENT = 80

/**
 * Expected seconds from submission to `settled`, by depths and block times of the route, for a lock accepted at
 * `depth`.
 */
export function plannedEtaSeconds(origin: RouteEnd, destination: RouteEnd, depth: number): number {
  const accepted = secondsToDepth(origin.finality, origin.blockSeconds, depth)
  const settled = secondsToDepth(destination.finality, destination.blockSeconds, destination.finality.settle)
  return Math.ceil(accepted + settled + SERVICE_SECONDS)
}

/** Whether a swap took more than twice the time that its chains are configured for. */
export function isLate(durationMs: number, plannedSeconds: number): boolean {
  return durationMs > LATE_TIMES * plannedSeconds * 1_000
}

/** The time within which 8 of 10 recent swaps settled; undefined if there are too few samples. */
export function measuredEtaSeconds(samplesMs: readonly number[]): number | undefined {
  if (samplesMs.length < MIN_SAMPLES) return undefined
  const ordered = [...samplesMs].sort((a, b) => a - b)
  const index = Math.ceil((ordered.length * KEPT_PERCENT) / 100) - 1
  return Math.max(1, Math.ceil((ordered[index] ?? 0) / 1_000))
}

/** Current speed of swaps on a route. */
export type RouteSpeed = {
  /** Finality rules of the origin. */
  finality: FinalityRules
  /** Remaining cap, in cents, for deliveries against inputs that are not final. */
  roomCents: bigint
  /** The same for swaps that pay the premium; absent without a fast way. */
  fastCents?: bigint
  /** Seconds from submission to `settled` of a swap whose lock is accepted at this depth. */
  etaSecondsAt(depth: number): number
}

/** The expected time of a swap of this value. `isSlow`: the swap waits until its input is final. */
export function settlementOf(speed: RouteSpeed, valueCents: bigint): { etaSeconds: number; isSlow: boolean } {
  const { finality, roomCents } = speed
  const depth = acceptDepthOf(finality, valueCents)
  const isSlow = depth >= finality.hard || valueCents > roomCents
  return { etaSeconds: speed.etaSecondsAt(isSlow ? finality.hard : depth), isSlow }
}

/** The way to be paid before finality, of a swap that would wait for it; undefined if there is none. */
export function fastWayOf(speed: RouteSpeed, valueCents: bigint) {
  const { finality, fastCents = 0n, etaSecondsAt } = speed
  const fast = fastOf(finality, valueCents)
  if (!fast || valueCents > fastCents) return undefined
  const etaSeconds = etaSecondsAt(fast.depth)
  return etaSeconds < etaSecondsAt(finality.hard) ? { ...fast, etaSeconds } : undefined
}

/** The largest value in cents that settles within this time, by either way; undefined if all values do. */
export function mostCentsWithin(speed: RouteSpeed, seconds: number): bigint | undefined {
  const usual = mostUsualWithin(speed, seconds)
  if (usual === undefined) return undefined
  const { fastCents = 0n } = speed
  const fast = [...topsOf(speed.finality), fastCents].filter((cents) => {
    const way = cents <= fastCents ? fastWayOf(speed, cents) : undefined
    return way !== undefined && way.etaSeconds <= seconds
  })
  return largest(usual, ...fast)
}

/** The largest values of the steps by which a lock is accepted. */
const topsOf = ({ accept, fast = defaultFastTiers }: FinalityRules) =>
  [...accept, ...fast].flatMap(({ belowUsd }) => (belowUsd === undefined ? [] : BigInt(belowUsd) * 100n - 1n))

/** The largest value in cents for which every swap settles within this time; undefined if all values do. */
function mostUsualWithin({ finality, roomCents, etaSecondsAt }: RouteSpeed, seconds: number) {
  const isFinalInTime = etaSecondsAt(finality.hard) <= seconds
  let most = 0n
  for (const { belowUsd, depth } of finality.accept) {
    const top = belowUsd === undefined ? undefined : BigInt(belowUsd) * 100n - 1n
    const isFast = depth < finality.hard && most < roomCents
    const isInTime = isFast ? etaSecondsAt(depth) <= seconds : isFinalInTime
    if (!isInTime) return most
    const endsInRoom = top !== undefined && top <= roomCents
    if (!endsInRoom && !isFinalInTime) return roomCents
    if (top === undefined) return undefined
    most = top
  }
  return most
}
