import { acceptDepthOf, type FinalityRules, secondsToDepth } from './finality.ts'

type RouteEnd = { finality: FinalityRules; blockSeconds: number }

// Notifications, reads of the database and of nodes between the two legs.
const SERVICE_SECONDS = 0.5
// Fewer tell too little; more of them are of another hour.
export const MIN_SAMPLES = 20
export const MAX_SAMPLES = 100
const KEPT_PERCENT = 80

/** Seconds from submission to `settled` by the depths and block times of the route, for an input of this value. */
export function plannedEtaSeconds(origin: RouteEnd, destination: RouteEnd, valueCents: bigint): number {
  const accepted = secondsToDepth(
    origin.finality,
    origin.blockSeconds,
    acceptDepthOf(origin.finality, valueCents),
  )
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
