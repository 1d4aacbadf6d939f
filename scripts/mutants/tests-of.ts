import { dirname } from 'node:path/posix'
import { graphOf, nameOf } from '../check-imports.ts'
import type { Source } from '../sources.ts'

/** The tests of a file, and all files that reach it by imports, itself included. */
export type Reach = { tests: string[]; affected: string[] }

/**
 * The unit tests of a file: those that import it, and those of its own folder that reach it. Tests of other
 * folders that run through it are left out, since a mutant must take only seconds.
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
    const all = reach(users, file)
    const near = all.filter((user) => isNear(user, file))
    const tests = [...new Set([...direct, ...near])].filter((user) => user.endsWith('.test.ts'))
    const toPaths = (files: readonly string[]) => files.flatMap((each) => paths.get(each) ?? [])
    return {
      tests: toPaths(tests).filter((test) => test.startsWith('packages/')),
      affected: toPaths(all),
    }
  }
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
