/**
 * Whether an attempt `a` may still land, or may have landed since, for who looks at the block of this parameter.
 * An attempt that was decided before blocks were noted counts as decided.
 */
export function isOpenAt(parameter: string): string {
  return `(a.final_at is null or a.final_block > ${parameter}::bigint)`
}
