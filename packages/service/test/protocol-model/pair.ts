import type { Machine } from './explorer.ts'
import { exposureOf } from './invariants.ts'
import { stepsOf } from './model.ts'
import type { Rules } from './rules.ts'
import { encode, isFinal, type ModelState, startOf } from './state.ts'

type Pair = readonly [ModelState, ModelState]
type PairStep = { name: string; to: Pair }

// Steps that do not affect exposure are left out: the product of two whole swaps is too large to explore.
const LEFT_OUT = /^(crash|stranger|wallet|time|attester)|decline|claim|refund|fail/

/** Two swaps of one origin chain under one exposure cap. */
export function pairOf(rules: Rules, { promisedCap = rules.exposureCap } = {}): Machine<Pair, PairStep> {
  const stepsBeside = (state: ModelState, other: ModelState) =>
    stepsOf(state, rules, 1 + Number(other.exposed) <= rules.exposureCap).filter(
      ({ name }) => !LEFT_OUT.test(name),
    )
  return {
    start: [startOf(rules), startOf(rules)],
    stepsOf: ([one, two]) => [
      ...stepsBeside(one, two).map(({ name, to }) => ({ name: `first ${name}`, to: [to, two] as const })),
      ...stepsBeside(two, one).map(({ name, to }) => ({ name: `second ${name}`, to: [one, to] as const })),
    ],
    // The two swaps are interchangeable.
    encode: (pair) => pair.map(encode).sort().join(' + '),
    judgeState: ([one, two]) =>
      exposureOf(one) + exposureOf(two) <= promisedCap ? [] : ['INV-13 exposure within its cap'],
    judgeStep: () => [],
    isDone: (pair) => pair.every(({ lock }) => isFinal(lock)),
  }
}
