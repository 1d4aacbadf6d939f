import { afterAll, beforeAll, expect, test } from 'vitest'
import { insertTestAccount, startTestDatabase, type TestDatabase } from '../../../test/support/database.ts'
import { insertTestSwap, moveTestSwap } from '../../../test/support/swaps.ts'
import { discardEvents, storePage, type Undo } from '../../store/chain-events.ts'
import { findSwaps, findUnlocked } from '../../store/swaps.ts'
import { undoLocks } from './undo-lock.ts'

const ORIGIN = 31_337

let database: TestDatabase
beforeAll(async () => {
  database = await startTestDatabase()
})
afterAll(() => database.stop())

async function isLockAwaited(): Promise<boolean> {
  const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
  return (await database.pool.query(waiting)).rows.length > 0
}

test('a swap whose lock was undone has no lock, even if it is delivered at that moment', async () => {
  const { pool } = database
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))
  await moveTestSwap(pool, swap, 'lockRecorded')
  const { op } = await moveTestSwap(pool, swap, 'lockSeen', { originTxHash: '0xlock', lockedBlock: 7n })
  const lock = { kind: 'locked', id: op.hash, block: 7n, blockHash: '0x7', txHash: '0xlock' } as const
  await storePage(pool, { chainId: ORIGIN, events: [lock], to: 9n, seconds: 0, gone: [] }, async () => {})

  let delivery: Promise<unknown> | undefined
  const undo: Undo = async (db, gone) => {
    let isOver = false
    delivery = moveTestSwap(pool, swap, 'deliveryRecorded', { deliveryTxHash: '0xdelivery' })
      .catch((error: unknown) => error)
      .finally(() => {
        isOver = true
      })
    while (!isOver && !(await isLockAwaited())) await new Promise(setImmediate)
    await undoLocks(db, gone, () => {})
  }
  await discardEvents(pool, ORIGIN, [lock], undo)
  await delivery

  const [left] = await findSwaps(pool, [swap.swapId])
  expect(left?.state).toBe('locking')
  expect((await findUnlocked(pool, ORIGIN)).map(({ id }) => id)).toEqual([swap.swapId])
})
