import { endedStates, type SwapState } from '../swap/lifecycle.ts'
import type { WayName } from '../swap/swap.ts'

/** The SQL list of a group of states or ways. */
export function listOf(names: readonly (SwapState | WayName)[]): string {
  return `(${names.map((name) => `'${name}'`).join(', ')})`
}

/** An open swap, in exactly the words of the index `swaps_open`: PostgreSQL would not use the index otherwise. */
export const IS_OPEN = `state not in ${listOf(endedStates)}`

/**
 * SQL condition: seen from the given block, an attempt `a` may still land, or may have landed later. An attempt that
 * was decided before blocks were recorded counts as decided.
 */
export function isOpenAt(parameter: string): string {
  return `(a.final_at is null or a.final_block > ${parameter}::bigint)`
}

/** SQL condition: the attempt is open, and its nonce is free at settle depth, where a reorg may free it again. */
export function isUnconsumedAt(hard: string, settle: string): string {
  return `(${isOpenAt(hard)} and (a.consumed_block is null or a.consumed_block > ${settle}::bigint))`
}

/** SQL of a time in milliseconds. */
export const toMs = (time: string) => `extract(epoch from ${time})::float8 * 1000`

/** JSON of stored data, with bigints as decimal strings. */
export function toJson(value: object): string {
  return JSON.stringify(value, (_key, field) => (typeof field === 'bigint' ? field.toString() : field))
}
