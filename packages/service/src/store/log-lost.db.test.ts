import { expect, test } from 'vitest'
import { insertTestAttempt } from '../../test/support/attempts.ts'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { holdTestLane } from '../../test/support/lanes.ts'
import { insertTestOp, insertTestSwap, moveTestSwap, type TestSwap } from '../../test/support/swaps.ts'
import { markAttemptsFinal } from './attempts.ts'
import { beginDeposit, beginWithdrawal, endMove } from './inventory.ts'
import {
  expireOps,
  findUnlogged,
  holdPosition,
  insertLostSubmission,
  insertRecoveredSwap,
  isDatabaseInUse,
  markLogsLost,
  markOrphan,
  raiseEpoch,
  readNextNonce,
  recordRebuild,
  recountReservations,
  setRebuildPoint,
} from './rebuild.ts'
import { findStalledDeliveries, findStalledLocks, findSwaps, findToDeliver, findToLock } from './swaps.ts'

const database = useTestDatabase()

const ORIGIN = { chainId: 31337, locker: 'locker' }

/** The swaps for which a worker would sign something other than a refund. */
async function wanted(): Promise<string[]> {
  const { pool } = database
  const found = await Promise.all([
    findToLock(pool, { ...ORIGIN, limit: 10 }),
    findStalledLocks(pool, { chainId: ORIGIN.chainId, lockers: [ORIGIN.locker], hard: 100n, settle: 100n }),
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
    `insert into inventory (chain_id, token, held, reserved, at_block)
     values (31338, 'output', 100000, 7, 1), (31338, 'other', 100000, 7, 1), (5, 'output', 100000, 7, 1)`,
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
  await beginDeposit(pool, { ...move, kind: 'deposit', once: '3' })

  await recountReservations(pool)

  const { rows } = await pool.query('select reserved from inventory order by chain_id desc, token desc')
  expect(rows.map(({ reserved }) => Number(reserved))).toEqual([4 * 990 + 10, 0, 0])
})

test('a transaction of ours that is neither recorded nor older than a rebuild is reported', async () => {
  const { pool } = database
  const { rows } = await pool.query('select tx_hash from tx_attempts limit 1')
  const named = [
    { txHash: rows[0].tx_hash, block: 20n },
    { txHash: 'unknown', block: 20n },
  ]

  expect(await findUnlogged(pool, 1, named)).toEqual(['unknown'])
  await setRebuildPoint(pool, { chainId: 2, block: 50n })
  expect(await findUnlogged(pool, 1, named)).toEqual(['unknown'])
  for (const block of [19n, 20n]) await setRebuildPoint(pool, { chainId: 1, block })
  expect(await findUnlogged(pool, 1, named)).toEqual([])
})

test('a database is in use while a process holds a lane', async () => {
  const { pool } = database
  expect(await isDatabaseInUse(pool)).toBe(false)
  await holdTestLane(database, 'watch:1')
  expect(await isDatabaseInUse(pool)).toBe(true)

  await pool.query(`update lanes set expires_at = clock_timestamp() - interval '1 second'`)
  expect(await isDatabaseInUse(pool)).toBe(false)
})

const newOp = async () => insertTestOp(database.pool, await insertTestAccount(database.pool))
const found = async (swapId: string) => (await findSwaps(database.pool, [swapId]))[0]

test('an op whose submission was lost may have been signed for', async () => {
  const opId = await newOp()
  await newOp()

  await insertLostSubmission(database.pool, { swapId: 'swp_forgotten', hash: opId })

  expect(await found('swp_forgotten')).toMatchObject({ state: 'locking', op: { id: opId, isLogLost: true } })
  await markOrphan(database.pool, opId)
  const { rows } = await database.pool.query('select id from ops where is_orphan')
  expect(rows).toEqual([{ id: opId }])
})

test('a swap that was found on the chains is finally locked, and delivered if a delivery was seen', async () => {
  const { pool } = database
  const locked = { originTxHash: '0xlock', lockedBlock: 5n, stage: 'locked' }
  const [open, paid] = [await newOp(), await newOp()]
  await insertRecoveredSwap(pool, { ...locked, swapId: 'swp_open', opId: open, state: 'delivering' })
  const delivery = { deliveryTxHash: '0xdelivery', delivered: 990n }
  await insertRecoveredSwap(pool, {
    ...{ ...locked, ...delivery },
    ...{ swapId: 'swp_paid', opId: paid, state: 'settled' },
  })

  const seen = { originFinal: true, originTxHash: '0xlock' }
  expect(await found('swp_open')).toMatchObject({ ...seen, deliveryFinal: false, op: { isLogLost: true } })
  const settled = await found('swp_paid')
  expect(settled).toMatchObject({ ...seen, deliveryFinal: true, deliveryTxHash: '0xdelivery' })
  expect(settled?.op.isLogLost).toBeUndefined()
})

test('a position that was found on the chain is held with its highest round', async () => {
  const { pool } = database
  const place = { chainId: 1, locker: 'locker', position: 3n }
  const [first, second] = [crypto.randomUUID(), crypto.randomUUID()]

  await holdPosition(pool, { ...place, round: 5n, opId: first })
  await holdPosition(pool, { ...place, round: 4n, opId: second })

  const { rows } = await pool.query('select last_round, op_id from ring_positions')
  expect(rows).toEqual([{ last_round: '5', op_id: second }])
})

test('all builds expire, and those that had expired keep their time', async () => {
  const { pool } = database
  await newOp()
  const past = await newOp()
  await pool.query(`update ops set expires_at = '2026-01-01' where id = $1`, [past])

  await expireOps(pool)

  const { rows } = await pool.query('select id from ops where expires_at > clock_timestamp()')
  expect(rows).toEqual([])
  const expired = await pool.query(`select id from ops where expires_at = '2026-01-01'`)
  expect(expired.rows).toEqual([{ id: past }])
})

test('the next epoch is above the last one and above every one that was seen', async () => {
  const { pool } = database

  expect([await raiseEpoch(pool, 7), await raiseEpoch(pool, 3)]).toEqual([8, 9])
  await recordRebuild(pool, { epoch: 9, recovered: 1, moved: 2, uncertain: 3 })
  const { rows } = await pool.query('select epoch, recovered, moved, uncertain from rebuilds')
  expect(rows).toEqual([{ epoch: 9, recovered: 1, moved: 2, uncertain: 3 }])
})

test('the next nonce is that of a key on a chain', async () => {
  const { pool } = database
  await pool.query(
    `insert into sender_keys (chain_id, address, next_nonce) values (1, 'a', 5), (1, 'b', 6), (2, 'a', 7)`,
  )
  const keys = [
    { chainId: 1, address: 'a' },
    { chainId: 1, address: 'b' },
    { chainId: 2, address: 'a' },
    { chainId: 2, address: 'b' },
  ]

  expect(await Promise.all(keys.map((key) => readNextNonce(pool, key)))).toEqual([5, 6, 7, 0])
})
