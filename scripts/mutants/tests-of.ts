import { dirname } from 'node:path/posix'
import { graphOf, nameOf } from '../check-imports.ts'
import type { Source } from '../sources.ts'

/** The tests of a file, and all files that reach it by imports, itself included. */
export type Reach = { tests: string[]; affected: string[] }

// A mutant must take only seconds.
const MAX_FAR = 4

/**
 * The unit tests of a file, nearest first: those that import it, and those of its own folder that reach it. If
 * there are none, the nearest few that reach it.
 */
export function createTestFinder(sources: readonly Source[]): (file: string) => Reach {
  const users = new Map<string, string[]>()
  for (const [file, imports] of graphOf(sources)) {
    for (const { target, typesOnly } of imports)
      if (!typesOnly) users.set(target, [...(users.get(target) ?? []), file])
  }
  const paths = new Map(sources.map(({ path }) => [nameOf(path), path]))
  return (path) => {
    const file = nameOf(path)
    const direct = users.get(file) ?? []
    const all = reach(users, file).flatMap((each) => paths.get(each) ?? [])
    const tests = all.filter((user) => /^packages\/.*\.test\.ts$/.test(user))
    const near = tests.filter((test) => direct.includes(nameOf(test)) || isNear(nameOf(test), file))
    const found = near.length > 0 ? near : tests.slice(0, MAX_FAR)
    return { tests: found.toSorted((a, b) => costOf(a, path) - costOf(b, path)), affected: all }
  }
}

/** The test of that name runs first, and those that need a chain or a database last. */
function costOf(test: string, file: string): number {
  if (test.startsWith(file.replace(/ts$/, ''))) return 0
  return test.endsWith('.chain.test.ts') ? 3 : test.endsWith('.db.test.ts') ? 2 : 1
}

/** In the same folder or below it, or in the package's folder of tests. */
function isNear(test: string, file: string): boolean {
  const [own] = file.split('/')
  return test.startsWith(`${dirname(file)}/`) || test.startsWith(`${own}/test/`)
}

function reach(users: ReadonlyMap<string, readonly string[]>, file: string): string[] {
  const seen = new Set([file])
  for (const each of seen) for (const user of users.get(each) ?? []) seen.add(user)
  return [...seen]
}
