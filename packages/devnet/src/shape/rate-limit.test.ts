import { expect, test } from 'vitest'
import { EVM_SHAPES } from './evm-shape.ts'
import { createRateLimit } from './rate-limit.ts'
import { initialSettings } from './settings.ts'

test('a client may make its calls each second, in one request or in many', () => {
  let now = 1_000_000
  const settings = { ...initialSettings(EVM_SHAPES.base), callsPerSecond: 3 }
  const admit = createRateLimit(settings, () => now)

  expect(admit('a', 2)).toBeUndefined()
  expect(admit('a', 2)).toEqual({ retryAfterSeconds: 1 })
  expect(admit('a', 1)).toBeUndefined()
  expect(admit('a', 1)).toEqual({ retryAfterSeconds: undefined })
  expect(admit('b', 3)).toBeUndefined()

  now += 1_000
  expect(admit('a', 3)).toBeUndefined()
})
