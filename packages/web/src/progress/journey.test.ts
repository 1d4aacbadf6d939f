import { describe, expect, test } from 'vitest'
import { formatDuration, journeyOf, stepsOf } from './journey.ts'

const at = (seconds: number) => new Date(seconds * 1_000).toISOString()
const entry = (stage: string, seconds: number) => ({ stage, at: at(seconds) })

describe('where the funds are', () => {
  test.each([
    ['accepted', 'wallet', 'vault'],
    ['locked', 'escrow', 'vault'],
    ['delivered', 'spent', 'paid'],
    ['refunded', 'returned', 'never'],
    ['failed', 'wallet', 'never'],
  ] as const)('%s: input %s, output %s', (substatus, input, output) => {
    expect(journeyOf({ substatus })).toEqual({ input, output })
  })

  test('an unknown substatus shows the input in the escrow', () => {
    expect(journeyOf({ substatus: 'pausing' as never }).input).toBe('escrow')
  })
})

describe('the steps', () => {
  test('of a pending swap are past, present and future', () => {
    const timeline = [entry('accepted', 0), entry('locking', 1), entry('locked', 3)]

    const steps = stepsOf({ timeline, status: 'pending', substatus: 'locked' })

    expect(steps.map(({ stage, state }) => `${stage} ${state}`)).toEqual([
      'accepted done',
      'locking done',
      'locked now',
      'delivering ahead',
      'delivered ahead',
    ])
    expect(steps[2]?.tookMs).toBe(2_000)
  })

  test('of a swap by deposit have titles about the deposit', () => {
    const steps = stepsOf({
      ...{ timeline: [entry('awaitingDeposit', 0)], method: 'deposit' },
      ...{ status: 'pending', substatus: 'awaitingDeposit' },
    })

    expect(steps.map(({ title, state }) => `${title}: ${state}`)).toEqual([
      'Waiting for the deposit: now',
      'Deposit seen: ahead',
      'Taking the deposit: ahead',
      'Input locked: ahead',
      'Paying the recipient: ahead',
      'Delivered: ahead',
    ])
  })

  test('of an unknown substatus are only the past ones', () => {
    const timeline = [entry('accepted', 0), entry('pausing', 1)]

    const steps = stepsOf({ timeline, status: 'pending', substatus: 'pausing' as never })

    expect(steps.map(({ stage }) => stage)).toEqual(['accepted', 'pausing'])
  })

  test('of a pending refund do not promise a delivery', () => {
    const timeline = [entry('accepted', 0), entry('locked', 1), entry('refunding', 2)]

    const steps = stepsOf({ timeline, status: 'pending', substatus: 'refunding' })

    expect(steps.map(({ stage }) => stage)).toEqual(['accepted', 'locked', 'refunding', 'refunded'])
  })

  test('of an ended swap are only the past ones', () => {
    const timeline = [entry('accepted', 0), entry('failed', 5)]

    const steps = stepsOf({ timeline, status: 'failed', substatus: 'failed' })

    expect(steps.map(({ state }) => state)).toEqual(['done', 'bad'])
  })
})

test.each([
  [250, '250 ms'],
  [1_500, '1.5 s'],
  [59_990, '59.9 s'],
  [61_000, '1 min 1 s'],
  [3_720_000, '1 h 2 min'],
])('%i milliseconds read %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text)
})
