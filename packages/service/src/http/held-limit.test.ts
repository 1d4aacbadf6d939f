import { endpoints } from '@geoswap/wire'
import { expect, test, vi } from 'vitest'
import { expectError } from '../../test/support/http-errors.ts'
import { createTestServer } from '../../test/support/http-server.ts'
import { plainKey } from '../../test/support/keys.ts'
import { createStatusReads } from '../stages/status/wait.ts'
import { createApiKey } from './api-key.ts'
import { createKeyTable } from './key-table.ts'

const pending = { ...endpoints.status.example.reply, status: 'pending' as const }

test('an account may have 1,000 held reads over all its keys, and others are not affected', async () => {
  const owners = ['acc_1', 'acc_1', 'acc_2'].map((accountId) => ({ accountId, ...createApiKey('test') }))
  const onError = vi.fn()
  const findActiveKeys = async () => owners.map((key) => ({ ...key, ...plainKey }))
  const keys = createKeyTable({ findActiveKeys, onError })
  await keys.refresh()
  const readStatuses = async (wanted: readonly unknown[]) => wanted.map(() => pending)
  const statusReads = createStatusReads({ readStatuses, findEnded: async () => [], onError })
  const { app } = await createTestServer({ keys, statusReads })
  const [first = '', second = '', stranger = ''] = owners.map(({ key }) => key)
  const read = (key: string, query = '') =>
    app.inject({ url: `/swap/status/swp_1${query}`, headers: { 'x-api-key': key } })
  const heldBy = (key: string, count: number) => Array.from({ length: count }, () => read(key))

  const held = [...heldBy(first, 500), ...heldBy(second, 500)]
  await vi.waitFor(() => expect(statusReads.heldCount()).toBe(1_000), 10_000)
  const refused = await read(second)
  const glance = await read(second, '?wait=0')
  const other = read(stranger)
  await vi.waitFor(() => expect(statusReads.heldCount()).toBe(1_001), 10_000)
  await app.close()

  expectError(refused, 429, 'RATE_LIMITED')
  expect(refused.headers['retry-after']).toBe('1')
  expect(glance.statusCode).toBe(200)
  expect(new Set((await Promise.all([...held, other])).map(({ statusCode }) => statusCode))).toEqual(
    new Set([200]),
  )
})
