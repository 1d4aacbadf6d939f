import { expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../../test/support/database.ts'
import { insertTestSwap, moveTestSwap } from '../../../test/support/swaps.ts'
import { createMoves } from '../../engine/advance.ts'
import { discardEvents, storePage, type Undo } from '../../store/chain-events.ts'
import { findSwaps, findUnlocked } from '../../store/swaps.ts'
import { undoLocks } from './confirm-lock.ts'

const ORIGIN = 31_337

const database = useTestDatabase()

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

  const moved: string[] = []
  const moves = createMoves(pool, ({ id }, { event }) => moved.push(`${id} ${event}`))
  let delivery: Promise<unknown> | undefined
  const undo: Undo = async (db, gone) => {
    let isOver = false
    delivery = moveTestSwap(pool, swap, 'deliveryRecorded', { deliveryTxHash: '0xdelivery' })
      .catch((error: unknown) => error)
      .finally(() => {
        isOver = true
      })
    while (!isOver && !(await isLockAwaited())) await new Promise(setImmediate)
    await undoLocks(moves, db, gone)
  }
  await discardEvents(pool, ORIGIN, [lock], undo)
  await delivery

  const [left] = await findSwaps(pool, [swap.swapId])
  expect(left?.state).toBe('locking')
  expect(moved).toEqual([`${swap.swapId} lockLost`])
  expect((await findUnlocked(pool, ORIGIN)).map(({ id }) => id)).toEqual([swap.swapId])
})

test('only a lock that is gone is undone, and only while nothing was paid', async () => {
  const { pool } = database
  const [locked, paid] = [
    await insertTestSwap(pool, await insertTestAccount(pool)),
    await insertTestSwap(pool, await insertTestAccount(pool)),
  ]
  for (const swap of [locked, paid]) {
    await moveTestSwap(pool, swap, 'lockRecorded')
    await moveTestSwap(pool, swap, 'lockSeen', { originTxHash: '0xlock', lockedBlock: 7n })
  }
  await moveTestSwap(pool, paid, 'deliveryRecorded', { deliveryTxHash: '0xdelivery' })
  const swaps = await findSwaps(pool, [locked.swapId, paid.swapId])
  const at = { block: 7n, blockHash: '0x7', txHash: '0x' }
  const eventOf = (kind: 'locked' | 'claimed') => swaps.map(({ op }) => ({ ...at, kind, id: op.hash }))
  const moved: string[] = []
  const moves = createMoves(pool, ({ id }) => moved.push(id))

  await undoLocks(moves, pool, eventOf('claimed'))
  expect(moved).toEqual([])
  await undoLocks(moves, pool, eventOf('locked'))

  expect(moved).toEqual([locked.swapId])
})
