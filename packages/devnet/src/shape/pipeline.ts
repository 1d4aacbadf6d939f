import { showBackend } from './backends.ts'
import type { Ask, Next, Rule } from './call.ts'
import type { EvmShape } from './evm-shape.ts'
import type { Fees } from './fee-system.ts'
import { type Finality, resolveTags } from './finality.ts'
import type { Heads } from './heads.ts'
import { limitLogs } from './log-limits.ts'
import { guardPool } from './pool.ts'

type Parts = { ask: Ask; shape: EvmShape; heads: Heads; finality: Finality; fees: Fees }

/** The rules that a call passes, in order, before it reaches the node. */
export function rulesOf({ ask, shape, heads, finality, fees }: Parts): Rule[] {
  return [
    resolveTags(finality),
    limitLogs(shape.logs, heads),
    showBackend(heads),
    guardPool({ ask, shape, heads, fees }),
    fees.rule,
  ]
}

export function chain(rules: readonly Rule[], node: Next): Next {
  return rules.reduceRight<Next>((next, rule) => async (call) => rule(call, next), node)
}
