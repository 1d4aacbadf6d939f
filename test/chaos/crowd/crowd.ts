import { delay } from '../../bench/clock.ts'
import { createRandom } from '../../bench/random.ts'
import { createCaller } from '../clients/caller.ts'
import type { Party } from '../clients/scene.ts'
import type { Plan } from '../plan.ts'
import type { RunContext } from '../run-context.ts'
import type { Acting, Gift } from './act.ts'
import { callActs } from './calls.ts'
import { type CrowdAct, type CrowdKind, type CrowdPlan, crowdKinds } from './kinds.ts'
import type { Purses } from './purses.ts'
import { solanaActs } from './solana.ts'
import { swapActs } from './swaps.ts'

const LOOK_MS = 250
// Strangers who act at the same time.
const AT_ONCE = 4

const doing = { ...swapActs, ...callActs, ...solanaActs }

type Options = {
  field: RunContext
  plan: Plan
  crowd: CrowdPlan
  parties: ReadonlyMap<number, Party>
  purses: Purses
  apiKey: string
}
export type Crowd = {
  /** Acts until every kind has acted this often or has no act left; begins no act once it is over. */
  actUntil(times: number, isOver?: () => boolean): Promise<void>
}

/** Strangers act in the order of the plan. An act that fails is recorded, and another one of its kind follows. */
export function createCrowd(options: Options): Crowd {
  const { field, crowd } = options
  const waiting = [...crowd.acts]
  const done = new Map<CrowdKind, number>(crowdKinds.map((kind) => [kind, 0]))
  const underWay = new Map<CrowdKind, number>(crowdKinds.map((kind) => [kind, 0]))
  const add = (counts: Map<CrowdKind, number>, kind: CrowdKind, by: number) =>
    counts.set(kind, (counts.get(kind) ?? 0) + by)

  function take(times: number): CrowdAct | undefined {
    const at = waiting.findIndex(({ kind }) => (done.get(kind) ?? 0) + (underWay.get(kind) ?? 0) < times)
    return at < 0 ? undefined : waiting.splice(at, 1)[0]
  }

  async function actOnce(act: CrowdAct, isOver: () => boolean): Promise<void> {
    add(underWay, act.kind, 1)
    const gifts: Gift[] = []
    try {
      await doing[act.kind]?.(actingOf(options, act, { isOver, note: (gift) => gifts.push(gift) }))
      add(done, act.kind, 1)
      field.ledger.crowd(act.kind, { chain: act.chain, client: act.client?.id })
    } catch (error) {
      field.ledger.fault('notDone', { act, why: String(error) })
    }
    // Also those of an act that failed later.
    for (const gift of gifts) field.ledger.gift({ ...gift, amount: `${gift.amount}` })
    add(underWay, act.kind, -1)
  }

  return {
    async actUntil(times, isOver = () => false) {
      const goOn = async () => {
        while (!isOver()) {
          const act = field.admission.isClosed ? undefined : take(times)
          if (act) await actOnce(act, isOver)
          else if (isSettled(times)) return
          await delay(act ? crowd.everyMs : LOOK_MS)
        }
      }
      const isSettled = (wanted: number) =>
        crowdKinds.every(
          (kind) => (done.get(kind) ?? 0) >= wanted || !waiting.some((act) => act.kind === kind),
        ) && [...underWay.values()].every((count) => count === 0)
      await Promise.all(Array.from({ length: AT_ONCE }, goOn))
    },
  }
}

function actingOf(
  { field, plan, parties, purses, apiKey }: Options,
  act: CrowdAct,
  how: Pick<Acting, 'note' | 'isOver'>,
): Acting {
  const id = act.client?.id ?? -2
  const random = createRandom(plan.seed + id)
  const { apiUrls } = field.processes
  return {
    ...{ act, field, purses, ...how },
    chain: field.world.chainNamed(act.chain),
    purse: purses.of(act.chain),
    caller: createCaller({ id, apiUrls, apiKey, ledger: field.ledger, random, isOver: () => field.isOver() }),
    party: parties.get(id),
  }
}
