import { dirname } from 'node:path/posix'
import type { Mutant } from './mutate.ts'

/** `by` is the test that failed. */
export type Result = Mutant & { outcome: 'killed' | 'survived' | 'untested'; by?: string }

const flat = (text: string) => text.replace(/\s+/g, ' ').trim()

export function toLine({ file, line, was, now }: Pick<Mutant, 'file' | 'line' | 'was' | 'now'>): string {
  return `${file}:${line} ${mutantName({ was, now })}`
}

export const mutantName = ({ was, now }: Pick<Mutant, 'was' | 'now'>) => `\`${flat(was)}\` → \`${flat(now)}\``

type Accepted = { file: string; name: string }

/** The page lists survivors that were reviewed: a heading for each file, and a line for each that starts with it. */
export function readAccepted(page: string): Accepted[] {
  const accepted: Accepted[] = []
  let file = ''
  for (const line of page.split('\n')) {
    file = /^#+ `?([\w./-]+\.ts)`?$/.exec(line)?.[1] ?? file
    const name = /^- (``? ?.+? ?``? → ``? ?.*? ?``?): /.exec(line)?.[1]
    if (name) accepted.push({ file, name })
  }
  return accepted
}

/** Whether a surviving mutant was reviewed and accepted. */
export function createAcceptance(page: string): (mutant: Mutant) => boolean {
  const accepted = new Set(readAccepted(page).map(({ file, name }) => `${file} ${name}`))
  return (mutant) => accepted.has(`${mutant.file} ${mutantName(mutant)}`)
}

export const NO_END = 'it does not end'

/** A busy machine may be the reason: the score counts these, and they can be run again. */
export const isTimeOut = ({ by = '' }: Result) => by === NO_END || /timed out in \d+ ?ms/.test(by)

/** Killed, of those that are not accepted, by folder. */
export function scoreLines(results: readonly Result[], isAccepted: (mutant: Mutant) => boolean): string[] {
  const folders = [...new Set(results.map(({ file }) => dirname(file)))]
  const scoreOf = (name: string, some: readonly Result[]) => {
    const killed = some.filter(({ outcome }) => outcome === 'killed').length
    const accepted = some.filter((result) => result.outcome !== 'killed' && isAccepted(result)).length
    const counted = some.length - accepted
    const percent = counted === 0 ? 100 : Math.floor((1_000 * killed) / counted) / 10
    const late = some.filter(isTimeOut).length
    const byTime = late === 0 ? '' : `, ${late} by a time-out`
    return `${name}: ${killed} of ${counted} killed (${percent} %)${byTime}, ${accepted} accepted`
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
