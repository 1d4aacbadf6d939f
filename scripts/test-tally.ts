import type { TestCommand, TestPart } from './test-parts.ts'

type Judged = {
  passed: number
  failed: number
  /** Files that failed beside others and passed alone. */
  flaky: readonly string[]
}

/** A part of the tests that has ended, or has not run for a reason. */
export type Ended = Judged & {
  name: string
  seconds: number
  /** Why it did not run. */
  left?: string
}

export type Report = {
  testResults: {
    name: string
    status: string
    assertionResults: { fullName: string; status: string }[]
  }[]
}

/** One run of a part: of all its files, or of those that failed before. */
export type Ran = {
  isGreen: boolean
  output: string
  report?: Report | undefined
  /** A command that reports no tests counts as one. */
  hasReport: boolean
}

/** Counts the tests of one part; a later run replaces what an earlier one says of the same file. */
export function judge(runs: readonly Ran[]): Judged {
  const last = runs.at(-1)
  const isGreen = last?.isGreen ?? false
  if (last && !last.hasReport) return { passed: isGreen ? 1 : 0, failed: isGreen ? 0 : 1, flaky: [] }
  const seen = runs.flatMap(({ report }) => report?.testResults ?? [])
  const files = new Map(seen.map((file) => [file.name, file]))
  const tests = [...files.values()].flatMap(({ status, assertionResults }) =>
    // A file that could not be loaded has none.
    assertionResults.length > 0 ? assertionResults : [{ status }],
  )
  const count = (wanted: string) => tests.filter(({ status }) => status === wanted).length
  const hasFailed = new Set(seen.filter(({ status }) => status === 'failed').map(({ name }) => name))
  return {
    passed: count('passed'),
    // A network that did not start, or an error outside of tests, is a failure too.
    failed: isGreen ? 0 : Math.max(1, count('failed')),
    flaky: [...hasFailed].filter((name) => files.get(name)?.status === 'passed'),
  }
}

/** The parts that other commands run, a line for each command. */
export function toldElsewhere(parts: readonly TestPart[], command: TestCommand): string[] {
  const others = new Set(parts.map((part) => part.command).filter((each) => each !== command))
  return [...others].map((other) => {
    const names = parts.filter((part) => part.command === other).map(({ name }) => name)
    return `left out     ${names.join(', ')}: ${other === 'test' ? 'npm test' : `npm run ${other}`}`
  })
}

/** The last lines of a run: what passed, failed, was flaky, did not run and was left to other commands. */
export function summarize(parts: readonly Ended[], elsewhere: readonly string[]): string[] {
  const ended = parts.filter(({ left }) => left === undefined)
  const sum = (key: 'passed' | 'failed') => parts.reduce((total, part) => total + part[key], 0)
  return [
    ...ended.filter(({ failed }) => failed === 0).map((part) => line('passed', part, countsOf(part))),
    ...ended.filter(({ failed }) => failed > 0).map((part) => line('FAILED', part, countsOf(part))),
    ...ended.flatMap((part) =>
      part.flaky.length > 0 ? line('flaky', part, `failed once, passed alone: ${part.flaky.join(' ')}`) : [],
    ),
    ...parts.flatMap((part) => (part.left === undefined ? [] : line('did not run', part, part.left))),
    ...elsewhere,
    `${sum('passed')} passed, ${sum('failed')} failed`,
  ]
}

const line = (what: string, { name }: Ended, details: string) =>
  `${what.padEnd(12)} ${name.padEnd(14)} ${details}`

const countsOf = ({ passed, failed, seconds }: Ended) => `${passed} passed, ${failed} failed, ${seconds} s`
