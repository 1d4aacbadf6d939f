import { expect, test } from 'vitest'
import { useTestDatabase } from '../../test/support/database.ts'
import { leaseConnectionSlots } from './lanes.ts'

const database = useTestDatabase()

test('a lease ends after its time', async () => {
  const lease = { accountId: 'account', process: crypto.randomUUID(), want: 1, most: 1, ttlMs: 30_000 }
  await leaseConnectionSlots(database.pool, lease)

  const { rows } = await database.pool.query<{ seconds: number }>(
    'select extract(epoch from expires_at - clock_timestamp())::float8 as seconds from held_places',
  )
  expect(rows[0]?.seconds).toBeGreaterThan(20)
  expect(rows[0]?.seconds).toBeLessThanOrEqual(30)
})
