import { endedStates, type SwapState } from '../model/lifecycle.ts'

/** The SQL list of a group of states. */
export function listOf(states: readonly SwapState[]): string {
  return `(${states.map((state) => `'${state}'`).join(', ')})`
}

/** An open swap, in exactly the words of the index `swaps_open`: PostgreSQL would not use the index otherwise. */
export const IS_OPEN = `state not in ${listOf(endedStates)}`
