import { expect, test } from 'vitest'
import { storeTestEvents } from '../../../test/support/chain-events.ts'
import { insertTestAccount, useTestDatabase } from '../../../test/support/database.ts'
import { stub } from '../../../test/support/stub.ts'
import { insertTestSwap, moveTestSwap } from '../../../test/support/swaps.ts'
import type { Block, Heads, LockRef, LockState } from '../../chains/chain.ts'
import { createMoves } from '../../engine/advance.ts'
import { readStatuses } from '../../store/statuses.ts'
import { findSwaps } from '../../store/swaps.ts'
import { type ConfirmLockDeps, confirmLocks } from './confirm-lock.ts'

const CHAIN = 31_337

const database = useTestDatabase()

const block: Block = { number: 20n, height: 20n, hash: '0x14', seconds: 0 }
const heads: Heads = { head: block, settle: block, hard: block }

/** A watch of a chain past every deadline, on which every input is in this state. */
function watcher(state: LockState): ConfirmLockDeps {
  const readLocks = async (ops: readonly LockRef[]) => new Map(ops.map(({ hash }) => [hash, state]))
  const origin = { chainId: CHAIN, readLocks, isLockOver: () => true }
  const rules = { accept: [{ depth: 1 }], settle: 1, reorgWindowSeconds: 4, hard: 4, hardSeconds: 4 }
  const moves = createMoves(database.pool, () => {})
  return stub<ConfirmLockDeps>({ pool: database.pool, origin, rules, moves })
}

test('the status of a swap whose lock came too late says why it waits, and until when', async () => {
  const { pool } = database
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))
  await moveTestSwap(pool, swap, 'lockRecorded')
  await storeTestEvents(pool, CHAIN, 'locked', await findSwaps(pool, [swap.swapId]))
  const { rows } = await pool.query('update chain_events set seen_at = 997 returning block')
  await pool.query('update ops set op_deadline = 1000 where id = (select op_id from swaps where id = $1)', [
    swap.swapId,
  ])
  const statusAt = async (hard: bigint) => {
    await confirmLocks(watcher('locked'), { ...heads, hard: { ...block, number: hard } })
    return (await readStatuses(pool, [swap]))[0]
  }
  const locked = BigInt(rows[0].block)

  const waiting = { reason: 'lateLock', until: new Date(1_001_000).toISOString() }
  expect(await statusAt(locked - 1n)).toMatchObject({ substatus: 'locking', waiting })
  const final = await statusAt(locked)
  expect([final?.substatus, final?.waiting]).toEqual(['locked', undefined])
})
