import type { Problem } from './shape.ts'

/** Whether some parts of a configuration fit each other. It reads these parts and no other: `*` is every item. */
export type Check = { reads: readonly string[]; find(): readonly Problem[] }

/** What the checks find. One that would read a part without its shape, or a missing one, is left out. */
export function runChecks(checks: readonly Check[], misshapen: readonly string[]): Problem[] {
  const isWhole = (read: string) => !misshapen.some((path) => touches(read, path))
  return checks.filter(({ reads }) => reads.every(isWhole)).flatMap(({ find }) => find())
}

/** Whether one of them is the other or a part of it. */
function touches(read: string, path: string): boolean {
  const [ours, theirs] = [read.split('/'), path.split('/')]
  const shared = Math.min(ours.length, theirs.length)
  return ours.slice(0, shared).every((part, index) => part === '*' || part === theirs[index])
}

/** Of what should be a list: none if it is something else. */
export function indicesOf(items: unknown): number[] {
  return Array.isArray(items) ? [...items.keys()] : []
}
