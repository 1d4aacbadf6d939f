/**
 * Whether an attempt `a` may still land, or may have landed since, for who looks at the block of this parameter.
 * An attempt that was decided before blocks were noted counts as decided.
 */
export function isOpenAt(parameter: string): string {
  return `(a.final_at is null or a.final_block > ${parameter}::bigint)`
}

/** Whether its nonce is free as well, for who looks at the block at settle depth: there a reorg may open it again. */
export function isUnconsumedAt(hard: string, settle: string): string {
  return `(${isOpenAt(hard)} and (a.consumed_block is null or a.consumed_block > ${settle}::bigint))`
}
