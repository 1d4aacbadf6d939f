import { expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { holdTestLane } from '../../test/support/lanes.ts'
import { insertTestSwap } from '../../test/support/swaps.ts'
import { placeEvents, takeDue } from './webhook-deliveries.ts'
import { insertEndpoint } from './webhook-endpoints.ts'

const database = useTestDatabase()

test('a delivery without an outcome is due again after its time', async () => {
  const { pool } = database
  const lease = await holdTestLane(database, 'webhooks')
  const accountId = await insertTestAccount(pool)
  await insertEndpoint(pool, { id: 'whe_due', accountId, url: 'https://hooks.example', secret: 'sealed' })
  await insertTestSwap(pool, accountId)
  await placeEvents(pool, { lease, limit: 10 })
  const take = () => takeDue(pool, { lease, endpointId: 'whe_due', limit: 10, retryMs: 30_000 })

  expect(await take()).toMatchObject([{ attempts: 1 }])
  expect(await take()).toEqual([])
  const moved = await pool.query(`update webhook_deliveries set next_at = next_at - interval '30 seconds'`)
  expect(moved.rowCount).toBe(1)
  expect(await take()).toMatchObject([{ attempts: 2 }])
})
