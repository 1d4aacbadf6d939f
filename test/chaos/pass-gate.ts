import type { FailPoint } from '../../packages/service/src/fail-point.ts'
import { delay } from '../bench/clock.ts'
import { patience } from '../patience.ts'
import { direct } from './director.ts'
import { drawLater } from './gate.ts'
import { fundMore } from './parties.ts'
import type { Plan } from './plan.ts'
import { slowPoints, swapPoints } from './processes.ts'
import { countSteps, createStillness } from './progress.ts'
import type { Stage } from './stage.ts'
import { take } from './workload.ts'

const LOOK_MS = 250
const BATCH = 24
// Ten kinds of them come in turn, so that a fail-point had two dozen chances by then.
const FUTILE_CLIENTS = 240
const STILL_MS = 90_000 * patience

export type Begun = { areAllIn(): boolean; ended: Promise<unknown> }
type Gate = { first: Begun; begin(clients: Plan['clients']): Begun; say(line: string): void }

/** The fail-points that the run still has to reach. */
export function findUnreached({ processes }: Pick<Stage, 'processes'>, plan: Plan): FailPoint[] {
  const isDue = (point: FailPoint) => !plan.isGate || !slowPoints.includes(point)
  return swapPoints.filter((point) => isDue(point) && (processes.crashes.get(point) ?? 0) < plan.crashes)
}

/** Clients come until every fail-point was reached, or until nothing more can come of them. */
export async function passGate(stage: Stage, plan: Plan, { first, begin, say }: Gate): Promise<Begun> {
  const later = drawLater(plan)
  const batches = [first]
  let came = plan.clients.length
  let isOver = false
  const comeOn = async () => {
    for (;;) {
      while (!isOver && !batches.at(-1)?.areAllIn()) await delay(LOOK_MS)
      if (isOver) return
      const clients = take(later, BATCH).map((client, index) => ({ ...client, at: index * LOOK_MS }))
      await fundMore(stage, clients)
      batches.push(begin(clients))
      came += BATCH
    }
  }
  const look = async () => {
    const why = await untilReached(stage, plan, { came: () => came, areAllIn: first.areAllIn })
    if (why) say(`${why}; not reached: ${findUnreached(stage, plan).join(', ')}`)
    isOver = true
  }
  const isSeen = (...points: FailPoint[]) =>
    !findUnreached(stage, plan).some((point) => points.includes(point))
  const direction = { field: stage.field, isOver: () => isOver, isSeen, isLong: false }
  const jumpSeconds = 2 * (plan.deadlines?.['opLifeSeconds'] ?? 0)
  await Promise.all([look(), direct({ ...direction, jumpSeconds }), comeOn()])
  return { areAllIn: () => true, ended: Promise.all(batches.map(({ ended }) => ended)) }
}

type Come = { came(): number; areAllIn(): boolean }

/** Undefined when every fail-point was reached; or why no more can be. */
async function untilReached(stage: Stage, plan: Plan, { came, areAllIn }: Come): Promise<string | undefined> {
  const stillness = createStillness(STILL_MS)
  let last = { unreached: Number.POSITIVE_INFINITY, came: 0 }
  for (;;) {
    const unreached = findUnreached(stage, plan).length
    if (unreached === 0 && areAllIn()) return undefined
    if (unreached < last.unreached) last = { unreached, came: came() }
    if (unreached > 0 && came() - last.came >= FUTILE_CLIENTS) return `${FUTILE_CLIENTS} more clients came`
    if (stillness.isStill([unreached, came(), await countSteps(stage.pool)]))
      return `nothing has moved for ${STILL_MS / 1_000} s`
    await delay(LOOK_MS)
  }
}
