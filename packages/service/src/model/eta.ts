import { acceptDepthOf, type FinalityRules, secondsToDepth } from './finality.ts'

type RouteEnd = { finality: FinalityRules; blockSeconds: number }

// Of both legs: notifications, reads of the database and of nodes, which may be a little behind.
const SERVICE_SECONDS = 1
// Fewer tell too little; more of them are of another hour.
export const MIN_SAMPLES = 20
export const MAX_SAMPLES = 100
const KEPT_PERCENT = 80

/** Seconds from submission to `settled` by the depths and block times of the route, for a lock paid at this depth. */
export function plannedEtaSeconds(origin: RouteEnd, destination: RouteEnd, depth: number): number {
  const accepted = secondsToDepth(origin.finality, origin.blockSeconds, depth)
  const settled = secondsToDepth(destination.finality, destination.blockSeconds, destination.finality.settle)
  return Math.ceil(accepted + settled + SERVICE_SECONDS)
}

/** The time that 8 of 10 of the latest swaps kept; undefined while there are too few. */
export function measuredEtaSeconds(samplesMs: readonly number[]): number | undefined {
  if (samplesMs.length < MIN_SAMPLES) return undefined
  const ordered = [...samplesMs].sort((a, b) => a - b)
  const index = Math.ceil((ordered.length * KEPT_PERCENT) / 100) - 1
  return Math.max(1, Math.ceil((ordered[index] ?? 0) / 1_000))
}

/** How fast swaps of a route are now. */
export type RouteSpeed = {
  /** The depths of the origin. */
  finality: FinalityRules
  /** Value that may be delivered now against inputs that are not final, in cents. */
  roomCents: bigint
  /** Seconds from submission to `settled` of a swap whose lock is paid at this depth. */
  etaSecondsAt(depth: number): number
}

/** How long a swap of this value takes, and whether it waits until its input is final. */
export function settlementOf(speed: RouteSpeed, valueCents: bigint): { etaSeconds: number; isSlow: boolean } {
  const { finality, roomCents } = speed
  const depth = acceptDepthOf(finality, valueCents)
  const isSlow = depth >= finality.hard || valueCents > roomCents
  return { etaSeconds: speed.etaSecondsAt(isSlow ? finality.hard : depth), isSlow }
}

/** The largest value in cents up to which every swap settles within this time; undefined where all do. */
export function mostCentsWithin({ finality, roomCents, etaSecondsAt }: RouteSpeed, seconds: number) {
  const isFinalInTime = etaSecondsAt(finality.hard) <= seconds
  let most = 0n
  for (const { belowUsd, depth } of finality.accept) {
    const top = belowUsd === undefined ? undefined : BigInt(belowUsd) * 100n - 1n
    const isFast = depth < finality.hard && most < roomCents
    const isInTime = isFast ? etaSecondsAt(depth) <= seconds : isFinalInTime
    if (!isInTime) return most
    const endsInRoom = top !== undefined && top <= roomCents
    if (isFast && !endsInRoom && !isFinalInTime) return roomCents
    if (top === undefined) return undefined
    most = top
  }
  return most
}
