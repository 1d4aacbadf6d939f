import { expect, test } from 'vitest'
import { judge, type Ran, summarize, toldElsewhere } from './test-tally.ts'

const file = (name: string, statuses: string[]) => ({
  name,
  status: statuses.every((status) => status === 'passed') && statuses.length > 0 ? 'passed' : 'failed',
  assertionResults: statuses.map((status, index) => ({ fullName: `${index}`, status })),
})
const ran = (isGreen: boolean, ...testResults: ReturnType<typeof file>[]): Ran => ({
  ...{ isGreen, output: '', hasReport: true },
  report: { testResults },
})

test('the last lines of a run list what passed, failed, was flaky, did not run and is left out, then the sums', () => {
  const parts = [
    { name: 'gate', passed: 3, failed: 1, flaky: [], seconds: 90 },
    { name: 'e2e', passed: 200, failed: 0, flaky: ['test/e2e/fees.test.ts'], seconds: 400 },
    { name: 'browser', passed: 0, failed: 0, flaky: [], seconds: 0, left: 'no Chromium' },
    { name: 'check', passed: 1, failed: 0, flaky: [], seconds: 60 },
  ]

  expect(summarize(parts, ['left out     shape: npm run test:rest'])).toEqual([
    'passed       e2e            200 passed, 0 failed, 400 s',
    'passed       check          1 passed, 0 failed, 60 s',
    'FAILED       gate           3 passed, 1 failed, 90 s',
    'flaky        e2e            failed once, passed alone: test/e2e/fees.test.ts',
    'did not run  browser        no Chromium',
    'left out     shape: npm run test:rest',
    '204 passed, 1 failed',
  ])
})

test('a run names what other commands run', () => {
  const part = { files: [], beside: [] }
  const parts = [
    { ...part, name: 'unit', command: 'test' },
    { ...part, name: 'shape', command: 'test:rest' },
    { ...part, name: 'days', command: 'test:rest' },
  ] as const

  expect(toldElsewhere(parts, 'test')).toEqual(['left out     shape, days: npm run test:rest'])
  expect(toldElsewhere(parts, 'test:rest')).toEqual(['left out     unit: npm test'])
})

test('a file that passed the second time has passed, and one that could not be loaded has failed', () => {
  const first = ran(false, file('a', ['passed', 'failed']), file('b', []), file('c', ['passed']))
  const second = ran(false, file('a', ['passed', 'passed']), file('b', []))

  expect(judge([first])).toMatchObject({ passed: 2, failed: 2 })
  expect(judge([first, second])).toMatchObject({ passed: 3, failed: 1 })
})

test('every file that failed once and passed the second time is named, also beside one that failed again', () => {
  const first = ran(false, file('a', ['failed']), file('b', ['failed']), file('c', ['passed']))

  expect(judge([first, ran(true, file('a', ['passed']), file('b', ['passed']))]).flaky).toEqual(['a', 'b'])
  expect(judge([first, ran(false, file('a', ['failed']), file('b', ['passed']))]).flaky).toEqual(['b'])
  expect(judge([first]).flaky).toEqual([])
})

test('a file whose second look ended without a report is not flaky: it has failed', () => {
  const first = ran(false, file('a', ['failed']))
  const ended: Ran = { isGreen: false, output: '', hasReport: true }

  expect(judge([first, ended])).toEqual({ passed: 0, failed: 1, flaky: [] })
})

test('a part that ended without a report has failed, and a command without tests counts as one', () => {
  expect(judge([{ isGreen: false, output: '', hasReport: true }])).toMatchObject({ passed: 0, failed: 1 })
  expect(judge([{ isGreen: true, output: '', hasReport: false }])).toMatchObject({ passed: 1, failed: 0 })
  expect(judge([{ isGreen: false, output: '', hasReport: false }])).toMatchObject({ passed: 0, failed: 1 })
})
