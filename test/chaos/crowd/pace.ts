import { delay } from '../../bench/clock.ts'
import { patience } from '../../patience.ts'
import type { Begun } from '../pass-gate.ts'
import type { ClientPlan } from '../plan.ts'
import type { RunContext } from '../run-context.ts'
import type { Crowd } from './crowd.ts'
import type { CrowdPlan } from './kinds.ts'

// Honest swaps after the faults: without strangers, beside them, and without them again, so that a machine that becomes
// faster or slower meanwhile changes both figures.

type Pace = {
  field: RunContext
  crowd: Crowd
  plan: CrowdPlan
  begin(clients: readonly ClientPlan[]): Begun
  say(line: string): void
}

const LOOK_MS = 250
const CALM_MS = 60_000 * patience
const MOVING = `select 1 from swaps where state in ('accepted', 'locking', 'locked', 'delivering', 'refundDecided',
                                                    'refunding') limit 1`

export async function passPace({ field, crowd, plan, begin, say }: Pace): Promise<void> {
  const { before, beside, after } = plan.pace
  say('honest swaps are timed, without strangers and beside them')
  await untilCalm(field)
  await begin(before).ended
  let haveEnded = false
  const acting = crowd.actUntil(plan.rounds + 1, () => haveEnded)
  await begin(beside).ended
  haveEnded = true
  await acting
  // Kinds that faults kept from acting.
  await crowd.actUntil(plan.rounds)
  await untilCalm(field)
  await begin(after).ended
}

/** Until no swap needs blocks of a chain, other than for finality. */
async function untilCalm({ pool }: RunContext): Promise<void> {
  for (const end = Date.now() + CALM_MS; Date.now() < end; await delay(LOOK_MS)) {
    const found = await pool.query(MOVING).catch(() => undefined)
    if (found?.rowCount === 0) return
  }
}
