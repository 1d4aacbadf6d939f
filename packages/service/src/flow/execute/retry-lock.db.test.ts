import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Block, Heads, LockRef } from '../../chains/chain.ts'
import type { Work } from '../../lanes/sender.ts'
import { markAttemptsFinal } from '../../store/attempts.ts'
import { markOriginFinal } from '../../store/exposure.ts'
import { findSwaps } from '../../store/swaps.ts'
import { insertTestAttempt } from '../../store/test-attempts.ts'
import { insertTestAccount, startTestDatabase, type TestDatabase } from '../../store/test-database.ts'
import { insertTestSwap, moveTestSwap } from '../../store/test-swaps.ts'
import type { LockDeps } from './lock.ts'
import { retryStalledLocks } from './retry-lock.ts'

let database: TestDatabase

beforeAll(async () => {
  database = await startTestDatabase()
})
afterAll(() => database.stop())

const lease = { name: 'relay', holder: 'holder', fence: '1' }

const OP_DEADLINE = 100

function headsAt(number: bigint, seconds = 0): Heads {
  const block: Block = { number, height: number, hash: `0x${number}`, seconds }
  return { head: block, accept: block, settle: block, hard: block }
}

/** A swap whose locks were found to be decided at a hard-final block; what they did there is not known here. */
async function lockFinalAt(
  block: bigint,
  attempts: readonly { sender?: string; replacement?: number }[] = [{}],
) {
  const swap = await insertTestSwap(database.pool, await insertTestAccount(database.pool))
  const ids = await Promise.all(
    attempts.map((attempt) => insertTestAttempt(database.pool, swap, 'lock', attempt)),
  )
  await moveTestSwap(database.pool, swap, 'lockRecorded')
  await markAttemptsFinal(
    database.pool,
    ids.map((id) => ({ id })),
    block,
  )
  return swap
}

type Sent = { role: string; swapIds: readonly string[]; record: Work['record'] }

/** A worker that sees no lock, and by default an empty wallet. */
function lookerAt({ obstacle = 'INPUT_UNAVAILABLE', sent = [] as Sent[] } = {}): LockDeps {
  const deps = {
    pool: database.pool,
    sender: {
      address: 'locker',
      room: () => 1,
      affords: async () => true,
      fits: async () => true,
      send: async (_lease: unknown, _heads: unknown, work: Sent) => sent.push(work),
    },
    origin: {
      chainId: 31337,
      readLocks: async (ops: readonly LockRef[]) => new Map(ops.map(({ hash }) => [hash, 'none'])),
      findObstacle: async () => obstacle || undefined,
      planLock: async () => ({}),
    },
    destinationOf: () => ({ simulateDelivery: async () => ({ kind: 'ok' }) }),
    ...{ isLive: () => true, isGone: () => false, isPriceKept: () => true, refreshPrices: async () => {} },
    valueCentsOf: () => 0n,
    onDeclined: () => {},
  }
  return deps as unknown as LockDeps
}

const stateOf = async (swapId: string) => (await findSwaps(database.pool, [swapId]))[0]?.state

test('a worker that was away does not fail a swap by a block from before its lock was decided', async () => {
  const { swapId } = await lockFinalAt(20n)

  await retryStalledLocks(lookerAt(), lease, headsAt(19n))

  expect(await stateOf(swapId)).toBe('locking')
})

test('a swap whose every lock was decided by the block that shows it unlocked has failed', async () => {
  const { swapId } = await lockFinalAt(20n)

  await retryStalledLocks(lookerAt(), lease, headsAt(20n))

  expect(await stateOf(swapId)).toBe('failed')
})

test('a lock that was raised until its nonce was burnt counts as one try of three', async () => {
  const sent: Sent[] = []
  const raised = [0, 1, 2, 3].map((replacement) => ({ sender: 'raised', replacement }))
  const { swapId } = await lockFinalAt(20n, raised)
  const tried = await lockFinalAt(20n, [{}, {}, {}])
  await database.pool.query('update ops set op_deadline = $1', [OP_DEADLINE])

  await retryStalledLocks(lookerAt({ obstacle: '', sent }), lease, headsAt(20n))

  expect(sent.map(({ swapIds }) => swapIds)).toEqual([[swapId]])
  expect(await stateOf(tried.swapId)).toBe('failed')
})

test('a swap that cannot be judged is told of, and the next one has its turn', async () => {
  const [trap, next] = [await lockFinalAt(20n), await lockFinalAt(20n)]
  const deps = lookerAt()
  deps.origin.findObstacle = async ({ id }) => {
    if (id === trap.swapId) throw new Error('nobody expected this')
    return 'INPUT_UNAVAILABLE'
  }

  await expect(retryStalledLocks(deps, lease, headsAt(20n, -1))).rejects.toThrow('nobody expected this')

  expect([await stateOf(trap.swapId), await stateOf(next.swapId)]).toEqual(['locking', 'failed'])
  await retryStalledLocks(lookerAt(), lease, headsAt(20n))
})

/** A swap that was delivered before its lock was final. */
async function paidEarly() {
  const swap = await lockFinalAt(20n)
  await moveTestSwap(database.pool, swap, 'lockSeen', { originTxHash: '0xlock', lockedBlock: 1n })
  await moveTestSwap(database.pool, swap, 'deliveryRecorded', { deliveryTxHash: '0xdelivery' })
  await moveTestSwap(database.pool, swap, 'deliverySeen', { deliveryTxHash: '0xdelivery', delivered: 990n })
  await database.pool.query('update ops set op_deadline = $1', [OP_DEADLINE])
  return swap
}

test('a swap that was paid before its lock was final, and lost it for good, is locked again', async () => {
  const sent: Sent[] = []
  const { swapId } = await paidEarly()

  await retryStalledLocks(lookerAt({ obstacle: '', sent }), lease, headsAt(20n))

  expect(sent.filter(({ swapIds }) => swapIds.includes(swapId)).map(({ role }) => role)).toEqual(['lock'])
  expect(await sent[0]?.record(database.pool as never, { attemptId: '1', txHash: '0x' })).toBe(true)
  expect(await stateOf(swapId)).toBe('settled')
})

test('a swap that was paid is not locked again when its time is over', async () => {
  const sent: Sent[] = []
  await paidEarly()

  await retryStalledLocks(lookerAt({ obstacle: '', sent }), lease, headsAt(20n, OP_DEADLINE))

  expect(sent).toEqual([])
})

test('what the chain would refuse is not signed for a swap that was paid, nor is a final lock repeated', async () => {
  const sent: Sent[] = []
  const refused = await paidEarly()
  const final = await paidEarly()
  await markOriginFinal(database.pool, await findSwaps(database.pool, [final.swapId]))

  await retryStalledLocks(lookerAt({ sent }), lease, headsAt(20n))

  expect(sent).toEqual([])
  expect([await stateOf(refused.swapId), await stateOf(final.swapId)]).toEqual(['settled', 'settled'])
})

async function failureOf({ swapId }: { swapId: string }): Promise<string | undefined> {
  const { rows } = await database.pool.query<{ failure_code: string }>(
    'select failure_code from swaps where id = $1',
    [swapId],
  )
  return rows[0]?.failure_code
}

test('a swap that nodes refused for its wallet until no try was left failed for its authorization', async () => {
  const refused = await lockFinalAt(20n, [{}, {}, {}])
  const other = await lockFinalAt(20n, [{}, {}, {}])
  await database.pool.query('update ops set op_deadline = $1', [OP_DEADLINE])
  await database.pool.query(
    `update tx_attempts set refusal = 'authority' where id in (
       select attempt_id from attempt_swaps where swap_id = $1)`,
    [refused.swapId],
  )

  await retryStalledLocks(lookerAt({ obstacle: '' }), lease, headsAt(20n))

  expect(await failureOf(refused)).toBe('INVALID_AUTHORIZATION')
  expect(await failureOf(other)).toBe('INPUT_UNAVAILABLE')
})
