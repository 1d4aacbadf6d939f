import { dirname } from 'node:path/posix'
import type { Mutant } from './mutate.ts'

/** `by` is the test that failed. */
export type Result = Mutant & { outcome: 'killed' | 'survived' | 'untested'; by?: string }

const flat = (text: string) => text.replace(/\s+/g, ' ').trim()

export function toLine({ file, line, was, now }: Pick<Mutant, 'file' | 'line' | 'was' | 'now'>): string {
  return `${file}:${line} ${nameOf({ was, now })}`
}

const nameOf = ({ was, now }: Pick<Mutant, 'was' | 'now'>) => `\`${flat(was)}\` → \`${flat(now)}\``

/**
 * Whether a surviving mutant was reviewed and accepted. The page lists those: a heading for each file, and a
 * line for each mutant that starts with it.
 */
export function createAcceptance(page: string): (mutant: Mutant) => boolean {
  const accepted = new Set<string>()
  let file = ''
  for (const line of page.split('\n')) {
    file = /^#+ `?([\w./-]+\.ts)`?$/.exec(line)?.[1] ?? file
    const mutant = /^- (``? ?.+? ?``? → ``? ?.*? ?``?): /.exec(line)?.[1]
    if (mutant) accepted.add(`${file} ${mutant}`)
  }
  return (mutant) => accepted.has(`${mutant.file} ${nameOf(mutant)}`)
}

/** Killed, of those that are not accepted, by folder. */
export function scoreLines(results: readonly Result[], isAccepted: (mutant: Mutant) => boolean): string[] {
  const folders = [...new Set(results.map(({ file }) => dirname(file)))]
  const scoreOf = (name: string, some: readonly Result[]) => {
    const killed = some.filter(({ outcome }) => outcome === 'killed').length
    const accepted = some.filter((result) => result.outcome !== 'killed' && isAccepted(result)).length
    const counted = some.length - accepted
    const percent = counted === 0 ? 100 : Math.floor((1_000 * killed) / counted) / 10
    return `${name}: ${killed} of ${counted} killed (${percent} %), ${accepted} accepted`
  }
  return [
    ...folders.map((folder) =>
      scoreOf(
        folder,
        results.filter(({ file }) => dirname(file) === folder),
      ),
    ),
    ...(folders.length > 1 ? [scoreOf('all', results)] : []),
  ]
}
