/** A part of the tests that has ended, or has not run for a reason. */
export type Part = {
  name: string
  passed: number
  failed: number
  seconds: number
  /** Files that failed beside others and passed alone. */
  flaky?: readonly string[]
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

type Ran = Pick<Part, 'passed' | 'failed'>

/** Counts the tests of the reports of one part; a later report replaces what an earlier one says of the same file. */
export function tally(reports: readonly (Report | undefined)[], isGreen: boolean): Ran {
  const files = new Map(
    reports.flatMap((report) => report?.testResults ?? []).map((file) => [file.name, file]),
  )
  const tests = [...files.values()].flatMap(({ status, assertionResults }) =>
    // A file that could not be loaded has none.
    assertionResults.length > 0 ? assertionResults : [{ status }],
  )
  const count = (wanted: string) => tests.filter(({ status }) => status === wanted).length
  // A network that did not start, or an error outside of tests, is a failure too.
  return { passed: count('passed'), failed: isGreen ? 0 : Math.max(1, count('failed')) }
}

/** The last lines of a run: what passed, failed, was flaky and did not run. */
export function summarize(parts: readonly Part[]): string[] {
  const ended = parts.filter(({ left }) => left === undefined)
  const sum = (key: 'passed' | 'failed') => parts.reduce((total, part) => total + part[key], 0)
  return [
    ...ended.filter(({ failed }) => failed === 0).map((part) => line('passed', part, countsOf(part))),
    ...ended.filter(({ failed }) => failed > 0).map((part) => line('FAILED', part, countsOf(part))),
    ...ended.flatMap((part) =>
      part.flaky?.length ? line('flaky', part, `failed once, passed alone: ${part.flaky.join(' ')}`) : [],
    ),
    ...parts.flatMap((part) => (part.left === undefined ? [] : line('did not run', part, part.left))),
    `${sum('passed')} passed, ${sum('failed')} failed`,
  ]
}

const line = (what: string, { name }: Part, details: string) =>
  `${what.padEnd(12)} ${name.padEnd(14)} ${details}`

const countsOf = ({ passed, failed, seconds }: Part) => `${passed} passed, ${failed} failed, ${seconds} s`
