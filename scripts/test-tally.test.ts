import { expect, test } from 'vitest'
import { summarize, tally } from './test-tally.ts'

const file = (name: string, statuses: string[]) => ({
  name,
  status: statuses.every((status) => status === 'passed') && statuses.length > 0 ? 'passed' : 'failed',
  assertionResults: statuses.map((status, index) => ({ fullName: `${index}`, status })),
})

test('the last lines of a test run list what passed, failed, was flaky and did not run, and then the sums', () => {
  const parts = [
    { name: 'gate', passed: 3, failed: 1, seconds: 90 },
    { name: 'e2e', passed: 200, failed: 0, seconds: 400, flaky: ['test/e2e/fees.test.ts'] },
    { name: 'test/browser', passed: 0, failed: 0, seconds: 0, left: 'no Chromium' },
    { name: 'check', passed: 1, failed: 0, seconds: 60 },
  ]

  expect(summarize(parts)).toEqual([
    'passed       e2e            200 passed, 0 failed, 400 s',
    'passed       check          1 passed, 0 failed, 60 s',
    'FAILED       gate           3 passed, 1 failed, 90 s',
    'flaky        e2e            failed once, passed alone: test/e2e/fees.test.ts',
    'did not run  test/browser   no Chromium',
    '204 passed, 1 failed',
  ])
})

test('a file that passed the second time has passed, and one that could not be loaded has failed', () => {
  const first = { testResults: [file('a', ['passed', 'failed']), file('b', []), file('c', ['passed'])] }
  const second = { testResults: [file('a', ['passed', 'passed']), file('b', [])] }

  expect(tally([first], false)).toEqual({ passed: 2, failed: 2 })
  expect(tally([first, second], false)).toEqual({ passed: 3, failed: 1 })
})

test('a part that ended without a report has failed', () => {
  expect(tally([undefined], false)).toEqual({ passed: 0, failed: 1 })
})
