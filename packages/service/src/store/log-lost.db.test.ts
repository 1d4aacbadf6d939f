import { expect, test } from 'vitest'
import { insertTestAttempt } from '../../test/support/attempts.ts'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { insertTestSwap, moveTestSwap, type TestSwap } from '../../test/support/swaps.ts'
import { markAttemptsFinal } from './attempts.ts'
import { findUnlogged, markLogsLost, recountReservations } from './rebuild.ts'
import { findStalledDeliveries, findStalledLocks, findToDeliver, findToLock } from './swaps.ts'
import { beginWithdrawal, endMove } from './treasury-moves.ts'

const database = useTestDatabase()

const ORIGIN = { chainId: 31337, locker: 'locker' }

/** The swaps for which a worker would sign something other than a refund. */
async function wanted(): Promise<string[]> {
  const { pool } = database
  const found = await Promise.all([
    findToLock(pool, { ...ORIGIN, limit: 10 }),
    findStalledLocks(pool, { ...ORIGIN, hard: 100n, settle: 100n }),
    findToDeliver(pool, { chainId: 31338, limit: 10 }),
    findStalledDeliveries(pool, { chainId: 31338, hard: 100n, settle: 100n }),
  ])
  return found.flat().map(({ id, state }) => `${state} ${id}`)
}

async function insertAt(events: ('lockRecorded' | 'lockSeen' | 'deliveryRecorded')[]): Promise<TestSwap> {
  const { pool } = database
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))
  for (const event of events) {
    if (event !== 'lockSeen') {
      const id = await insertTestAttempt(pool, swap, event === 'lockRecorded' ? 'lock' : 'deliver')
      await markAttemptsFinal(pool, [{ id }], 50n)
    }
    const seen = event === 'lockSeen' ? { originTxHash: '0xlock', lockedBlock: 1n } : {}
    await moveTestSwap(pool, swap, event, seen)
  }
  return swap
}

test('nothing is locked or delivered for a swap with lost attempts, in any state', async () => {
  const events = ['lockRecorded', 'lockSeen', 'deliveryRecorded'] as const
  for (const count of [0, 1, 2, 3]) await insertAt(events.slice(0, count))
  const before = await wanted()

  const marked = await markLogsLost(database.pool)

  const states = new Set(before.map((each) => each.split(' ')[0]))
  expect([...states].sort()).toEqual(['accepted', 'delivering', 'locked', 'locking'])
  expect(marked).toBe(4)
  expect(await wanted()).toEqual([])
})

test('reservations are recomputed from undelivered swaps and pending withdrawals', async () => {
  const { pool } = database
  await pool.query(
    `insert into inventory (chain_id, token, held, reserved, at_block) values (31338, 'output', 100000, 7, 1)`,
  )

  const move = {
    chainId: 31_338,
    sender: 'treasury',
    token: 'output',
    recipient: 'safe',
    amount: 10n,
  } as const
  await beginWithdrawal(pool, { ...move, kind: 'withdraw', once: '1' }, 100_000n)
  await beginWithdrawal(pool, { ...move, kind: 'withdraw', once: '2' }, 100_000n)
  await endMove(pool, { ...move, once: '2' }, 'landed')

  await recountReservations(pool)

  const { rows } = await pool.query('select reserved from inventory')
  expect(rows).toEqual([{ reserved: String(4 * 990 + 10) }])
})

test('a transaction of ours that is neither recorded nor older than a rebuild is reported', async () => {
  const { pool } = database
  const { rows } = await pool.query('select tx_hash from tx_attempts limit 1')
  const named = [
    { txHash: rows[0].tx_hash, block: 20n },
    { txHash: 'unknown', block: 20n },
  ]

  expect(await findUnlogged(pool, 1, named)).toEqual(['unknown'])
  await pool.query('insert into rebuild_points (chain_id, block) values (1, 20)')
  expect(await findUnlogged(pool, 1, named)).toEqual([])
})
