import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { neededConnections } from '../packages/service/src/config/connections.ts'
import { defaultConnections } from '../packages/service/src/config/finish.ts'
import { bpsOf } from './prices-page.ts'
import { ROOT } from './sources.ts'

const MANUAL = readFileSync(join(ROOT, 'docs/going-live.md'), 'utf8')
// Of PostgreSQL, for superusers.
const RESERVED = 3

test.each([
  [100, 3],
  [1_000, 1.2],
  [10_000, 1],
])('%i USDC from Base to Arbitrum cost at most %f basis points', (usd, most) => {
  expect(bpsOf('base', 'arbitrum', usd)).toBeLessThanOrEqual(most)
})

test('the first swap of the manual is far from the loss of 5 % at which clients ask', () => {
  const [, from = '', to = '', usd = ''] =
    /geoswap swap (\w+):USDC (\w+):USDC --amount (\d+)/.exec(MANUAL) ?? []

  expect(bpsOf(from, to, Number(usd))).toBeLessThan(100)
})

test('the manual names the connections that its processes need', () => {
  const [, needed, limit] = /need (\d+)\s+connections: set `max_connections = (\d+)`/.exec(MANUAL) ?? []
  const connections = { ...defaultConnections, apiProcesses: 2, workerProcesses: 2 }
  const attesters = { members: ['0x1', '0x2', '0x3'], threshold: 2 }

  expect(Number(needed)).toBe(neededConnections({ connections, attesters }))
  expect(Number(limit)).toBeGreaterThan(Number(needed) + RESERVED)
})
