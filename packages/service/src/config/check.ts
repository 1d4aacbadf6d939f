import type { Problem } from './shape.ts'

/**
 * A check of several parts of a configuration against each other. It reads only these paths; `*` matches every item.
 */
export type Check = { reads: readonly string[]; find(): readonly Problem[] }

/** Runs the checks. A check that would read a malformed or missing part is skipped. */
export function runChecks(checks: readonly Check[], misshapen: readonly string[]): Problem[] {
  const isWhole = (read: string) => !misshapen.some((path) => pathsOverlap(read, path))
  return checks.filter(({ reads }) => reads.every(isWhole)).flatMap(({ find }) => find())
}

/** Whether one path equals or contains the other. */
function pathsOverlap(read: string, path: string): boolean {
  const [ours, theirs] = [read.split('/'), path.split('/')]
  const shared = Math.min(ours.length, theirs.length)
  return ours.slice(0, shared).every((part, index) => part === '*' || part === theirs[index])
}

/** The indices of a list; empty if the value is not one. */
export function indicesOf(items: unknown): number[] {
  return Array.isArray(items) ? [...items.keys()] : []
}
