import { publicStatus } from '../../src/swap/lifecycle.ts'
import { worldSteps } from './chains.ts'
import { type Exploration, explore, findFairCycle, type Machine } from './explorer.ts'
import { isOver, type RuleName, stateRules, stepRules } from './invariants.ts'
import type { Rules } from './rules.ts'
import { settlingSteps } from './settling.ts'
import { encode, type ModelState, type Step, startOf } from './state.ts'
import { workerSteps } from './worker.ts'

/** All possible next steps of one swap. `hasRoom`: the exposure cap has room for it. */
export function stepsOf(state: ModelState, rules: Rules, hasRoom = rules.exposureCap > 0): Step[] {
  return [...worldSteps(state, rules), ...workerSteps(state, rules, hasRoom), ...settlingSteps(state, rules)]
}

const namesOf = <T extends object>(record: T) => Object.keys(record) as (keyof T)[]
const stateRuleNames = namesOf(stateRules)
const stepRuleNames = namesOf(stepRules)

type Options = {
  /** Rules that are violated on purpose. */
  ignored?: readonly RuleName[]
  /** The definition of an end: a row that needs no further work, or a lasting public status. */
  endsAt?: 'row' | 'status'
  /** Stops at the first violation of this rule. */
  until?: RuleName
}

const ends = {
  row: isOver,
  status: ({ swap }: ModelState): boolean => publicStatus(swap) !== 'pending',
}

function machineOf(
  rules: Rules,
  { ignored = [], endsAt = 'row', until }: Options,
): Machine<ModelState, Step> {
  const isWatched = (name: RuleName) => !ignored.includes(name)
  const ofStates = stateRuleNames.filter(isWatched)
  const ofSteps = stepRuleNames.filter(isWatched)
  return {
    start: startOf(rules),
    stepsOf: (state) => stepsOf(state, rules),
    encode,
    judgeState: (state) => ofStates.filter((name) => !stateRules[name](state, rules)),
    judgeStep: (from, step) => ofSteps.filter((name) => !stepRules[name](from, step)),
    isDone: ends[endsAt],
    ...(until && { until }),
  }
}

const explored = new Map<string, Exploration<ModelState, Step>>()

/** Every reachable state of one swap. Memoized, since several tests explore the same rules. */
export function exploreSwap(rules: Rules, options: Options = {}): Exploration<ModelState, Step> {
  const key = JSON.stringify([rules, options])
  const known = explored.get(key) ?? explore(machineOf(rules, options))
  explored.set(key, known)
  return known
}

// Steps that may never be taken. Every other step that stays possible is taken eventually.
const CHOSEN = /^(stranger|payer|crash|wallet: refuses)|undone$/
const isFair = (name: string): boolean => !CHOSEN.test(name)
// A wallet that closes its account before every refund delays only itself.
const isRare = (name: string): boolean => name === 'wallet: refuses money'

/** States in which a swap can stay forever although every fair step is taken. */
export function findEndless(rules: Rules, { endsAt = 'row' }: Pick<Options, 'endsAt'> = {}): ModelState[] {
  return findFairCycle(exploreSwap(rules, { endsAt }), { isDone: ends[endsAt], isFair, isRare })
}
