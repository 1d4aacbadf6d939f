import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { insertTestAccount, startTestDatabase, type TestDatabase } from '../../test/support/database.ts'
import { holdTestLane } from '../../test/support/lanes.ts'
import { insertEndedSwaps } from '../../test/support/swaps.ts'
import { createPool } from './db.ts'
import { addEventMonths } from './events.ts'
import { type Lease, renewLanes } from './lanes.ts'
import { placeEvents, takeDue } from './webhook-deliveries.ts'

const EVENTS = 1_000

let database: TestDatabase
let pool: Pool
let accountId: string
let lease: Lease
beforeAll(async () => {
  database = await startTestDatabase()
  await addEventMonths(database.pool)
  // The generic plan, which a connection uses after its first executions.
  pool = createPool(`${database.url}?options=-c%20plan_cache_mode%3Dforce_generic_plan`)
  accountId = await insertTestAccount(database.pool)
  lease = await holdTestLane(database, 'webhooks')
  await database.pool.query(
    `insert into webhook_endpoints (id, account_id, url, secret) values ('endpoint', $1, 'https://x.example', '')`,
    [accountId],
  )
})
afterAll(async () => {
  await pool.end()
  await database.stop()
})

/** Runs `work` while it has to wait for an uncommitted renewal of the lease. */
async function duringRenewal<T>(work: () => Promise<T>): Promise<T> {
  const db = await database.pool.connect()
  await db.query('begin')
  await renewLanes(db, [lease], 60_000)
  const [result] = await Promise.all([
    work(),
    untilLockAwaited().then(async () => {
      await db.query('commit')
      db.release()
    }),
  ])
  return result
}

async function untilLockAwaited(): Promise<void> {
  const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
  while ((await database.pool.query(waiting)).rowCount === 0) await delay(5)
}

// PostgreSQL 18.4 crashes if a statement locks a row that another transaction changed concurrently, and then updates
// many rows of a partitioned table.
describe('a concurrent renewal of the lease', () => {
  test('does not crash the server while events get their positions', async () => {
    const wallets = Array.from({ length: EVENTS }, (_, index) => `wallet ${index}`)
    await insertEndedSwaps(database.pool, accountId, wallets)

    const placing = duringRenewal(() => placeEvents(pool, { lease, limit: EVENTS }))

    expect(await placing).toBe(EVENTS)
  })

  test('does not crash the server while deliveries are taken', async () => {
    const want = { lease, endpointId: 'endpoint', limit: EVENTS, retryMs: 60_000 }

    const taken = await duringRenewal(() => takeDue(pool, want))

    expect(taken).toHaveLength(EVENTS)
  })
})
