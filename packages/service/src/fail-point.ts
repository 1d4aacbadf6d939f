import { writeSync } from 'node:fs'

/**
 * Points at which a test kills the process, as a crash would: around every write, and after every broadcast.
 * `before` a record is the worst moment: signed but not committed.
 * Those with the name of a swap's event are in `engine/advance.ts`.
 */
const AROUND = [
  'accept',
  'record lock',
  'record deliver',
  'record claim',
  'record refund',
  'record recover',
  'record replacement',
  'record noop',
  'record topup',
  'record sweep',
  'events',
  'declined',
  'depositSeen',
  'lockSeen',
  'lockLost',
  'lockDead',
  'lockFinal',
  'deliverySeen',
  'deliveryFinal',
  'deliveryImpossible',
  'claimFinal',
  'refundFinal',
  'outcome',
] as const
const AFTER = [
  'broadcast lock',
  'broadcast deliver',
  'broadcast claim',
  'broadcast refund',
  'broadcast recover',
  'broadcast replacement',
  'broadcast noop',
  'broadcast topup',
  'broadcast sweep',
  'attestation',
] as const

export type FailPoint =
  | `before ${(typeof AROUND)[number]}`
  | `after ${(typeof AROUND | typeof AFTER)[number]}`

export const failPoints: readonly FailPoint[] = [
  ...AROUND.flatMap((step) => [`before ${step}`, `after ${step}`] as const),
  ...AFTER.map((step) => `after ${step}` as const),
]

export const isFailPoint = (name: string): name is FailPoint => failPoints.some((point) => point === name)

let armed: Map<string, number> | undefined

/**
 * Parses `after record lock, before lockSeen:2`: the process ends at the first point, or the second time it reaches the
 * second. An empty text disarms all.
 */
export function armFailPoints(text: string): void {
  if (text === '') {
    armed = undefined
    return
  }
  const entries = text.split(',').map((entry): [string, number] => {
    const [name = '', times = '1'] = entry.trim().split(':')
    if (!isFailPoint(name)) throw new Error(`Unknown fail-point ${name}`)
    return [name, Number(times)]
  })
  armed = new Map(entries)
}

/** Does nothing unless a test armed it. */
export function failPoint(name: FailPoint): void {
  if (armed !== undefined) reach(armed, name)
}

function reach(points: Map<string, number>, name: FailPoint): void {
  const left = points.get(name)
  if (left === undefined) return
  points.set(name, left - 1)
  if (left > 1) return
  writeSync(2, `fail-point ${name}\n`)
  process.kill(process.pid, 'SIGKILL')
}
