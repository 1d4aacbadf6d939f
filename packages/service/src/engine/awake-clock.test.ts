import { expect, onTestFinished, test } from 'vitest'
import { createAwakeClock } from './views.ts'

function clockAt(time: { now: number }) {
  const clock = createAwakeClock(() => time.now)
  onTestFinished(() => clock.stop())
  return clock
}

test('the clock advances normally while the process runs', () => {
  const time = { now: 1_000 }
  const clock = clockAt(time)
  for (let second = 0; second < 90; second += 1) {
    time.now += 1_000
    clock.now()
  }

  expect(clock.now()).toBe(90_000)
})

test('a minute in which the process was suspended counts as a few seconds', () => {
  const time = { now: 1_000 }
  const clock = clockAt(time)

  time.now += 3_600_000

  expect(clock.now()).toBeLessThan(10_000)
})
