import { delay } from '../../bench/clock.ts'
import { patience } from '../../patience.ts'
import type { Begun } from '../pass-gate.ts'
import type { ClientPlan } from '../plan.ts'
import type { RunContext } from '../run-context.ts'
import { lapse } from '../shape-faults.ts'
import type { Crowd } from './crowd.ts'
import type { CrowdPlan } from './kinds.ts'

// Honest swaps after the faults: without strangers, beside them, and without them again, so that a machine that becomes
// faster or slower meanwhile changes both figures.

type Pace = {
  field: RunContext
  crowd: Crowd
  plan: CrowdPlan
  /** Whether chains behave like public ones. */
  isOfShape: boolean
  begin(clients: readonly ClientPlan[]): Begun
  say(line: string): void
}

const LOOK_MS = 250
const CALM_MS = 120_000 * patience
// A swap that is not settled by then never will be, and breaks the rule.
const SETTLED_MS = 90_000 * patience
// Less than the remaining time of a delivery.
const LAPSE_SECONDS = 300
// After the time of a chain has jumped, every process knows the new one by then: an op of the time before has expired.
const LAPSE_EVERY_MS = 8_000
const MOVING = ['accepted', 'locking', 'locked', 'delivering', 'refundDecided', 'refunding']
// A payment for an input that a reorg took back stays exposed.
const OPEN = `select 1 from swaps where state = any($1)
              union all select 1 from exposure e where e.cents > (
                select coalesce(sum(exposed_cents), 0) from swaps s
                 where s.origin_chain = e.chain_id and s.state = 'closed' and not s.origin_final and not s.origin_safe)
              limit 1`

export async function passPace({ field, crowd, plan, isOfShape, begin, say }: Pace): Promise<void> {
  const { before, beside, after } = plan.pace
  say('honest swaps are timed, without strangers and beside them')
  await untilCalm(field, isOfShape)
  await within(begin(before))
  await untilCalm(field, isOfShape)
  let haveEnded = false
  const acting = crowd.actUntil(plan.rounds + 1, () => haveEnded)
  await within(begin(beside))
  haveEnded = true
  await acting
  // Kinds that faults kept from acting.
  await crowd.actUntil(plan.rounds)
  await untilCalm(field, isOfShape)
  await within(begin(after))
}

const within = ({ ended }: Begun) => Promise.race([ended, delay(SETTLED_MS)])

/** Until no swap moves and nothing is exposed to a reorg: all swaps that are timed have the same room. */
async function untilCalm(field: RunContext, isOfShape: boolean): Promise<void> {
  const end = Date.now() + CALM_MS
  for (let next = Date.now() + LAPSE_EVERY_MS; Date.now() < end; await delay(LOOK_MS)) {
    const found = await field.pool.query(OPEN, [MOVING]).catch(() => undefined)
    const isOpen = found?.rowCount !== 0
    if (Date.now() < next) continue
    if (!isOpen) return
    if (!isOfShape) continue
    // Finality takes minutes there.
    await lapse(field, LAPSE_SECONDS)
    next = Date.now() + LAPSE_EVERY_MS
  }
}
