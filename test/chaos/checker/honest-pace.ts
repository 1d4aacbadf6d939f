import { type Check, type Evidence, each } from './evidence.ts'

// The time of honest swaps, without strangers and beside them.

// Of the time without strangers; or so much longer on a busy machine, whose times differ by this much anyway.
const MOST_FACTOR = 1.3
const NOISE_MS = 2_500
const PERCENTILE = 0.95

export type Pace = { planned: number; tookMs: number[] }

/** By nearest rank. */
export function p95(tookMs: readonly number[]): number {
  const sorted = tookMs.toSorted((a, b) => a - b)
  return sorted[Math.ceil(PERCENTILE * sorted.length) - 1] ?? Number.NaN
}

/** From the first request of an honest client to `settled`, of those that are timed. */
export function paceOf({ input, db }: Pick<Evidence, 'input' | 'db'>, pace: string): Pace {
  const timed = input.setup.parties.filter((party) => party.pace === pace)
  const begun = new Map(
    input.history.flatMap(({ type, client, t }) => (type === 'begin' ? [[client, t]] : [])),
  )
  const swaps = new Map(db.swaps.map((swap) => [swap.wallet.toLowerCase(), swap.id]))
  const settled = new Map(
    // A settled swap moves once more when its delivery is final.
    db.moves.flatMap(({ was, became, swap_id, at }) =>
      became === 'settled' && was !== became ? [[swap_id, at]] : [],
    ),
  )
  const tookMs = timed.flatMap(({ id, wallet }) => {
    const began = begun.get(id)
    const ended = settled.get(swaps.get(wallet.toLowerCase()) ?? '')
    return began === undefined || ended === undefined ? [] : [ended - began]
  })
  return { planned: timed.length, tookMs }
}

function objectionToPace(alone: Pace, beside: Pace): string | undefined {
  for (const { planned, tookMs } of [alone, beside])
    if (tookMs.length < planned) return `${tookMs.length} of ${planned} timed honest swaps were settled`
  const [usual, slowed] = [p95(alone.tookMs), p95(beside.tookMs)]
  const most = Math.max(MOST_FACTOR * usual, usual + NOISE_MS)
  return slowed > most
    ? `honest swaps took ${ms(slowed)} beside strangers, ${ms(usual)} without, ${ms(most)} allowed`
    : undefined
}

const ms = (time: number) => `${Math.round(time)} ms`

export const honestPace: Check = (evidence) => {
  if (!evidence.input.facts.hasCrowd) return []
  const [alone, beside] = [paceOf(evidence, 'alone'), paceOf(evidence, 'beside')]
  return each('INV-26', [objectionToPace(alone, beside)], (objection) => objection)
}
