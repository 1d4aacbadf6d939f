import { beforeAll, beforeEach, expect, test } from 'vitest'
import { storeTestEvents } from '../../../test/support/chain-events.ts'
import { insertTestAccount, useTestDatabase } from '../../../test/support/database.ts'
import { holdTestLane } from '../../../test/support/lanes.ts'
import { stub } from '../../../test/support/stub.ts'
import { insertTestSwap, moveTestSwap, type TestSwap } from '../../../test/support/swaps.ts'
import type { Block, Heads, LockState } from '../../chains/chain.ts'
import { createMoves } from '../../engine/advance.ts'
import { useQuarantine } from '../../isolate.ts'
import type { Lease } from '../../store/lanes.ts'
import { findSwaps, findToLock } from '../../store/swaps.ts'
import type { Op, Swap } from '../../swap/swap.ts'
import { type ConfirmLockDeps, confirmLocks } from './confirm-lock.ts'
import { type LockDeps, lockWaiting } from './lock.ts'
import { createWaitingLocks } from './readiness.ts'

const database = useTestDatabase()
let lease: Lease

beforeAll(async () => {
  lease = await holdTestLane(database, 'relay')
})
beforeEach(() => database.pool.query('truncate swaps, ops cascade'))

const block: Block = { number: 20n, height: 20n, hash: '0x20', seconds: -1 }
const heads: Heads = { head: block, settle: block, hard: block }
const rules = { accept: [{ depth: 1 }], settle: 1, reorgWindowSeconds: 0, hard: 4, hardSeconds: 0 }
const trap = new Error('Unexpected failure')

/** Inserts swaps; reading the first one's wallet from a chain fails. */
async function insertSwaps(): Promise<TestSwap[]> {
  const account = await insertTestAccount(database.pool)
  const inserted: TestSwap[] = []
  for (const wallet of ['trap', 'b', 'c']) inserted.push(await insertTestSwap(database.pool, account, wallet))
  return inserted
}

const failFor = ({ wallet }: Pick<Op, 'wallet'>): undefined => {
  if (wallet === 'trap') throw trap
}
const idsOf = (swaps: readonly TestSwap[]) => swaps.map(({ swapId }) => swapId)
const statesOf = async (swaps: readonly TestSwap[]) => {
  const found = new Map((await findSwaps(database.pool, idsOf(swaps))).map((swap) => [swap.id, swap.state]))
  return idsOf(swaps).map((id) => found.get(id))
}

/** The database refuses to move this swap's wallet there. */
async function refuse(wallet: string, state: string): Promise<() => Promise<unknown>> {
  await database.pool.query(
    `alter table swaps add constraint odd check (wallet <> '${wallet}' or state <> '${state}')`,
  )
  return () => database.pool.query('alter table swaps drop constraint odd')
}

/** Gas costs more than 1 now. */
const affords = async (_heads: Heads, feeBound: bigint) => feeBound !== 1n

function workerWith(found: { locked?: string[]; declined?: string[]; isGone?: boolean }): LockDeps {
  const { locked = [], declined = [], isGone = false } = found
  return stub<LockDeps>({
    pool: database.pool,
    moves: createMoves(database.pool, ({ id }) => declined.push(id)),
    sender: {
      address: 'locker',
      room: () => 16,
      affords,
      fits: async () => true,
      send: async (_lease: unknown, _heads: unknown, { swapIds }: { swapIds: readonly string[] }) => {
        locked.push(...swapIds)
        return true
      },
    },
    origin: {
      chainId: 31337,
      planLock: async () => ({}),
      readClaimCap: async () => undefined,
      findObstacle: async ({ op }: Swap) => failFor(op),
    },
    destinationOf: () => ({ simulateDelivery: async () => ({ kind: 'ok' }) }),
    isLive: () => !isGone,
    isGone: () => isGone,
    lateLockSeconds: 0,
    isLate: () => false,
    paidNow: ({ quotedOutput: output, payAmount: pay }: Swap['op']) => ({ output, pay }),
    refreshPrices: async () => {},
    valueCentsOf: () => 0n,
    isPayable: async () => true,
  })
}

function findWaiting() {
  const find = (limit: number) => findToLock(database.pool, { chainId: 31337, locker: 'locker', limit })
  // One at a time, the failing one first.
  return createWaitingLocks({ find, limit: 40, takeSize: 1 })
}

test('a swap that cannot be judged is reported, and the other waiting swaps are locked', async () => {
  const swaps = await insertSwaps()
  const locked: string[] = []

  await expect(lockWaiting(workerWith({ locked }), lease, heads, findWaiting())).rejects.toBe(trap)

  expect(locked).toEqual(idsOf(swaps.slice(1)))
})

test('a swap above its fee bound waits, and the others are locked', async () => {
  const [, dear, other] = await insertSwaps()
  await database.pool.query(
    'update ops set lock_fee_bound = 1 from swaps s where s.op_id = ops.id and s.id = $1',
    [dear?.swapId],
  )
  const locked: string[] = []

  await expect(lockWaiting(workerWith({ locked }), lease, heads, findWaiting())).rejects.toBe(trap)

  expect(locked).toEqual([other?.swapId])
})

test('a worker that lost its lane while it was away declines nothing', async () => {
  const [, ...swaps] = await insertSwaps()
  const old = await holdTestLane(database, 'lost', 0)
  await holdTestLane(database, 'lost')

  const declined: string[] = []
  await lockWaiting(workerWith({ isGone: true, declined }), old, heads, findWaiting())
  expect([await statesOf(swaps), declined]).toEqual([['accepted', 'accepted'], []])
  await lockWaiting(workerWith({ isGone: true, declined }), lease, heads, findWaiting())

  expect(await statesOf(swaps)).toEqual(['failed', 'failed'])
  expect(declined).toEqual(expect.arrayContaining(idsOf(swaps)))
})

test('a swap that cannot be advanced is reported, and the others of its chain are advanced', async () => {
  const swaps = await insertSwaps()
  for (const swap of swaps) await moveTestSwap(database.pool, swap, 'lockRecorded')
  const moved: string[] = []
  const deps = stub<ConfirmLockDeps>({
    pool: database.pool,
    rules,
    moves: createMoves(database.pool, ({ id }) => moved.push(id)),
    origin: { chainId: 31337, isLockOver: () => false },
  })
  const permit = await refuse('trap', 'locked')
  await storeTestEvents(database.pool, 31337, 'locked', await findSwaps(database.pool, idsOf(swaps)))

  await expect(confirmLocks(deps, heads)).rejects.toThrow('odd')

  expect(await statesOf(swaps)).toEqual(['locking', 'locked', 'locked'])
  expect(moved.sort()).toEqual(idsOf(swaps.slice(1)).sort())
  await permit()
  await confirmLocks(deps, heads)
  expect(await statesOf(swaps)).toEqual(['locked', 'locked', 'locked'])
})

test('a swap that cannot be advanced three times is set aside, and its chain has no fault any more', async () => {
  const swaps = await insertSwaps()
  for (const swap of swaps) await moveTestSwap(database.pool, swap, 'lockRecorded')
  const moves = createMoves(database.pool, () => {})
  const origin = { chainId: 31337, isLockOver: () => false }
  const deps = stub<ConfirmLockDeps>({ pool: database.pool, rules, moves, origin })
  const permit = await refuse('trap', 'locked')
  await storeTestEvents(database.pool, 31337, 'locked', await findSwaps(database.pool, idsOf(swaps)))
  const aside: string[] = []
  const release = async () => {}
  useQuarantine({ isOutage: () => false, setAside: async ({ id }) => void aside.push(id), release })

  for (const _ of [1, 2]) await expect(confirmLocks(deps, heads)).rejects.toThrow('odd')
  for (const _ of [3, 4]) await confirmLocks(deps, heads)

  expect(aside).toEqual([swaps[0]?.swapId])
  await permit()
  useQuarantine(undefined)
})

test('a swap whose input cannot be read is reported and left unchanged; others of its chain are advanced', async () => {
  const swaps = await insertSwaps()
  for (const swap of swaps) await moveTestSwap(database.pool, swap, 'lockRecorded')
  const deps = stub<ConfirmLockDeps>({
    pool: database.pool,
    rules,
    moves: createMoves(database.pool, () => {}),
    origin: {
      chainId: 31337,
      isLockOver: () => true,
      findObstacle: async () => undefined,
      async readLocks(ops: readonly Op[], _at: Block, faults: unknown[]) {
        faults.push(trap)
        const read = ops.filter(({ wallet }) => wallet !== 'trap')
        return new Map(read.map(({ hash }): [string, LockState] => [hash, 'none']))
      },
    },
  })

  await expect(confirmLocks(deps, heads)).rejects.toBe(trap)

  expect(await statesOf(swaps)).toEqual(['locking', 'failed', 'failed'])
})
