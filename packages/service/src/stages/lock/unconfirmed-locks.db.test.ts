import { beforeEach, expect, test } from 'vitest'
import { insertTestAttempt } from '../../../test/support/attempts.ts'
import { storeTestEvents } from '../../../test/support/chain-events.ts'
import { insertTestAccount, useTestDatabase } from '../../../test/support/database.ts'
import { stub } from '../../../test/support/stub.ts'
import { insertTestOp, insertTestSwap, moveTestSwap, type TestSwap } from '../../../test/support/swaps.ts'
import type { Block, Heads, LockRef, LockState } from '../../chains/chain.ts'
import { createMoves } from '../../engine/advance.ts'
import { readCursor, storePage } from '../../store/chain-events.ts'
import { insertSwap } from '../../store/submissions.ts'
import { findSwaps } from '../../store/swaps.ts'
import type { FailureCode } from '../../swap/lifecycle.ts'
import { type ConfirmLockDeps, confirmLocks } from './confirm-lock.ts'

const CHAIN = 31_337
const DEADLINE = 1_000

const database = useTestDatabase()
beforeEach(() => database.pool.query('truncate swaps, ops, chain_events, chain_cursors, tx_attempts cascade'))

type Stage = 'awaitingDeposit' | 'accepted' | 'locking' | 'delivering' | 'settled'

/** A swap whose lock is in no known block, with a deadline at second 1,000. */
async function swapIn(stage: Stage, { received }: { received?: string } = {}): Promise<TestSwap> {
  const { pool } = database
  const accountId = await insertTestAccount(pool)
  const swap = stage === 'awaitingDeposit' ? await awaiting(accountId) : await insertTestSwap(pool, accountId)
  const steps = ['lockRecorded', 'lockSeen', 'deliveryRecorded', 'deliverySeen'] as const
  const count = { awaitingDeposit: 0, accepted: 0, locking: 1, delivering: 3, settled: 4 }[stage]
  for (const step of steps.slice(0, count)) await moveTestSwap(pool, swap, step)
  await pool.query('update ops set op_deadline = $1, origin_block = 5', [DEADLINE])
  if (received !== undefined) await pool.query('update swaps set deposit = $1', [{ received }])
  return swap
}

async function awaiting(accountId: string): Promise<TestSwap> {
  const opId = await insertTestOp(database.pool, accountId)
  await database.pool.query(`update ops set method = 'deposit' where id = $1`, [opId])
  const swapId = `swp_${opId}`
  await insertSwap(database.pool, { swapId, opId, signature: '' })
  return { swapId, accountId }
}

const blockAt = (number: bigint, seconds: number): Block => ({ number, height: number, hash: '0x', seconds })

/** The database, in which all swaps move right after the events of a look are read. */
function movingPool() {
  const { pool } = database
  return Object.assign(Object.create(pool), {
    async query(text: string, values: unknown[]) {
      const found = await pool.query(text, values)
      if (text.includes('from chain_events'))
        await pool.query('update swaps set version = version + 1, updated_at = now()')
      return found
    },
  })
}

type World = {
  /** Of the final block. */
  seconds?: number
  state?: LockState | 'unreadable'
  obstacle?: FailureCode
  trap?: string
  movesMeanwhile?: boolean
}

/** One look at a chain whose final block is 10, where locks count from block 19 down. Returns what moved. */
async function look({ seconds = DEADLINE + 1, state = 'none', obstacle, trap, movesMeanwhile }: World = {}) {
  const moved: string[] = []
  const heads: Heads = {
    head: blockAt(20n, seconds),
    settle: blockAt(19n, seconds),
    hard: blockAt(10n, seconds),
  }
  const origin = {
    chainId: CHAIN,
    isLockOver: (_swap: unknown, at: Block) => at.number === 10n && at.seconds > DEADLINE,
    readLocks: async (ops: readonly LockRef[], at: Block) =>
      new Map(at.number === 10n && state !== 'unreadable' ? ops.map(({ hash }) => [hash, state]) : []),
    findObstacle: async ({ id }: { id: string }) => {
      if (id === trap) throw new Error('no answer')
      return obstacle
    },
  }
  const rules = { accept: [{ depth: 2 }], settle: 2, reorgWindowSeconds: 4, hard: 11, hardSeconds: 100 }
  const pool = movesMeanwhile ? movingPool() : database.pool
  const moves = createMoves(pool, (_swap, { event }) => moved.push(event))
  await confirmLocks(stub<ConfirmLockDeps>({ pool, origin, rules, moves }), heads)
  return moved
}

const columns = 'state, failure_code as code, origin_tx_hash as hash, locked_block as block'
const rowOf = async ({ swapId }: TestSwap) =>
  (await database.pool.query(`select ${columns} from swaps where id = $1`, [swapId])).rows[0]

const storeLock = async ({ swapId }: TestSwap, block: bigint) =>
  storeTestEvents(database.pool, CHAIN, 'locked', await findSwaps(database.pool, [swapId]), {
    block,
    txHash: '0xlock',
  })

test.each([
  [
    'deep enough counts, and is reported',
    19n,
    { state: 'locked', hash: '0xlock', block: '19' },
    ['lockSeen'],
  ],
  ['above that depth waits', 20n, { state: 'locking', hash: null, block: null }, []],
])('a lock %s', async (_, block, row, events) => {
  const swap = await swapIn('locking')
  await storeLock(swap, block)

  expect(await look({ seconds: 0 })).toEqual(events)
  expect(await rowOf(swap)).toMatchObject(row)
})

test('the lock of a delivered swap that is in a block again is noted and not reported', async () => {
  const swap = await swapIn('delivering')
  await storeLock(swap, 20n)

  expect(await look({ seconds: 0 })).toEqual([])
  expect(await rowOf(swap)).toMatchObject({ state: 'delivering', block: '20' })
})

test('a swap with a lock does not end at its deadline', async () => {
  const swap = await swapIn('locking')
  await storeLock(swap, 20n)

  expect(await look()).toEqual([])
  expect(await rowOf(swap)).toMatchObject({ state: 'locking' })
})

test.each<[string, Stage, World & { received?: string }, string | null]>([
  ['that no worker has signed for', 'accepted', {}, 'OPERATION_EXPIRED'],
  ['without its deposit', 'awaitingDeposit', {}, 'DEPOSIT_MISSING'],
  ['with a part of its deposit', 'awaitingDeposit', { received: '999' }, 'DEPOSIT_TOO_SMALL'],
  ['whose deposit waited for liquidity', 'awaitingDeposit', { received: '1000' }, 'OPERATION_EXPIRED'],
  ['whose lock was never included', 'locking', {}, 'OPERATION_EXPIRED'],
  ['whose input is gone', 'locking', { obstacle: 'INPUT_UNAVAILABLE' }, 'INPUT_UNAVAILABLE'],
  ['whose lock the node cannot show', 'locking', { state: 'unreadable' }, null],
  ['that may be delivered', 'delivering', {}, null],
  ['whose delivery is not final', 'settled', {}, null],
])(
  'past its deadline a swap %s fails with a reason, or waits',
  async (_, stage, { received, ...world }, code) => {
    const swap = await swapIn(stage, { ...(received !== undefined && { received }) })

    expect(await look({ ...world, seconds: DEADLINE })).toEqual([])
    const moved = await look(world)

    expect(moved).toEqual(code === null ? [] : [stage === 'locking' ? 'lockDead' : 'declined'])
    expect(await rowOf(swap)).toMatchObject({ state: code === null ? stage : 'failed', code })
  },
)

test('a swap whose lock nodes refused because of its wallet fails for its authorization', async () => {
  const swap = await swapIn('locking')
  await insertTestAttempt(database.pool, swap, 'lock')
  await database.pool.query(`update tx_attempts set refusal = 'authority'`)

  await look()

  expect(await rowOf(swap)).toMatchObject({ state: 'failed', code: 'INVALID_AUTHORIZATION' })
})

test('a lock that the escrow shows without a log is scanned for again from the block of its quote', async () => {
  const swap = await swapIn('locking')
  await storePage(
    database.pool,
    { chainId: CHAIN, events: [], to: 30n, seconds: -1, gone: [] },
    async () => {},
  )

  expect(await look({ state: 'unreadable' })).toEqual([])
  expect(await readCursor(database.pool, CHAIN)).toBe(30n)
  expect(await look({ state: 'locked' })).toEqual([])

  expect(await readCursor(database.pool, CHAIN)).toBe(4n)
  expect(await rowOf(swap)).toMatchObject({ state: 'locking' })
})

test.each([
  ['whose lock is seen', 0, 19n],
  ['past its deadline', DEADLINE + 1, undefined],
])('a swap %s that moved meanwhile is left to the next look, and not reported', async (_, seconds, block) => {
  const swap = await swapIn('locking')
  if (block !== undefined) await storeLock(swap, block)

  expect(await look({ seconds, movesMeanwhile: true })).toEqual([])
  expect(await rowOf(swap)).toMatchObject({ state: 'locking' })
})

test('a reason that cannot be read holds up no failure', async () => {
  const [trap, other] = [await swapIn('locking'), await swapIn('locking')]

  await look({ trap: trap.swapId })

  expect([(await rowOf(trap)).state, (await rowOf(other)).state]).toEqual(['failed', 'failed'])
})
