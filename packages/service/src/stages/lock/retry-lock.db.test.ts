import { expect, test } from 'vitest'
import { insertTestAttempt } from '../../../test/support/attempts.ts'
import { insertTestAccount, useTestDatabase } from '../../../test/support/database.ts'
import { stub } from '../../../test/support/stub.ts'
import { insertTestSwap, moveTestSwap } from '../../../test/support/swaps.ts'
import type { Block, Heads, LockRef } from '../../chains/chain.ts'
import { createMoves } from '../../engine/advance.ts'
import type { Work } from '../../engine/sender.ts'
import { markAttemptsConsumed, markAttemptsFinal, markAttemptsReturned } from '../../store/attempts.ts'
import { markOriginFinal } from '../../store/exposure.ts'
import { findSwaps } from '../../store/swaps.ts'
import { defaultGasBudgets } from '../../swap/budgets.ts'
import type { Op } from '../../swap/swap.ts'
import type { LockDeps } from './lock.ts'
import { retryStalledLocks } from './retry-lock.ts'

const database = useTestDatabase()

const lease = { name: 'relay', holder: 'holder', fence: '1' }

const OP_DEADLINE = 100

function headsAt(number: bigint, seconds = 0): Heads {
  const block: Block = { number, height: number, hash: `0x${number}`, seconds }
  return { head: block, settle: block, hard: block }
}

/** Heads, each ten blocks apart. */
function settledAt(number: bigint): Heads {
  const [{ hard }, { settle }, { head }] = [headsAt(number - 10n), headsAt(number), headsAt(number + 10n)]
  return { head, settle, hard }
}

/** A swap whose only lock had no effect, in a block that a reorg can still undo. */
async function lockConsumedAt(block: bigint, tries = 1) {
  const swap = await insertTestSwap(database.pool, await insertTestAccount(database.pool))
  const ids = await Promise.all(
    Array.from({ length: tries }, () => insertTestAttempt(database.pool, swap, 'lock')),
  )
  await moveTestSwap(database.pool, swap, 'lockRecorded')
  await database.pool.query('update ops set op_deadline = $1', [OP_DEADLINE])
  const consumed = ids.map((id) => ({ id }))
  await markAttemptsConsumed(database.pool, consumed, block)
  return { ...swap, consumed }
}

/** A swap whose locks were consumed at a hard-final block, with an unknown effect. */
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

type Seeing = {
  obstacle?: string
  sent?: Sent[]
  declined?: string[]
  room?: number
  isPriced?: boolean
  /** The block that shows a lock. */
  shownAt?: bigint
}

/** A worker that sees no lock and, by default, an empty wallet. */
function workerWith({ obstacle = 'INPUT_UNAVAILABLE', sent = [], declined = [], ...seeing }: Seeing = {}) {
  const deps = {
    pool: database.pool,
    sender: {
      address: 'locker',
      room: () => seeing.room ?? 1,
      affords: async () => true,
      fits: async () => true,
      simulates: async () => true,
      send: async (_lease: unknown, _heads: unknown, work: Sent) => sent.push(work) > 0,
    },
    origin: {
      chainId: 31337,
      readLocks: async (ops: readonly LockRef[], { number }: Block) =>
        new Map(ops.map(({ hash }) => [hash, number === seeing.shownAt ? 'locked' : 'none'])),
      findObstacle: async () => obstacle || undefined,
      planLock: async () => ({}),
      readClaimCap: async () => undefined,
    },
    destinationOf: () => ({ simulateDelivery: async () => ({ kind: 'ok' }) }),
    isLive: () => true,
    isGone: () => false,
    lateLockSeconds: 0,
    isLate: () => false,
    gasBudgets: defaultGasBudgets,
    paidNow: ({ quotedOutput, payAmount }: Op) =>
      seeing.isPriced === false ? undefined : { output: quotedOutput, pay: payAmount },
    refreshPrices: async () => {},
    valueCentsOf: () => 0n,
    isPayable: async () => true,
    moves: createMoves(database.pool, ({ id }, change) => {
      if (change.event === 'lockDead') declined.push(`${id} ${change.failureCode}`)
    }),
  }
  return stub<LockDeps>(deps)
}

const stateOf = async (swapId: string) => (await findSwaps(database.pool, [swapId]))[0]?.state

test('a worker that was away does not fail a swap by a block from before its lock was decided', async () => {
  const { swapId } = await lockFinalAt(20n)

  await retryStalledLocks(workerWith(), lease, headsAt(19n))

  expect(await stateOf(swapId)).toBe('locking')
})

test('a swap fails if its locks were decided by the block that shows it unlocked', async () => {
  const { swapId } = await lockFinalAt(20n)
  const declined: string[] = []

  await retryStalledLocks(workerWith({ declined }), lease, headsAt(20n, -1))

  expect(await stateOf(swapId)).toBe('failed')
  expect(declined).toContain(`${swapId} INPUT_UNAVAILABLE`)
})

test('a swap that moved while it was judged is left to the next look', async () => {
  const { swapId } = await lockFinalAt(20n)
  const declined: string[] = []
  const deps = workerWith({ declined })
  deps.origin.findObstacle = async ({ id }) => {
    await database.pool.query('update swaps set version = version + 1, updated_at = now() where id = $1', [
      id,
    ])
    return 'INPUT_UNAVAILABLE'
  }

  await retryStalledLocks(deps, lease, headsAt(20n, -1))

  expect([await stateOf(swapId), declined]).toEqual(['locking', []])
  await retryStalledLocks(workerWith(), lease, headsAt(20n))
})

test('a swap without a known lock transaction is not locked again', async () => {
  const sent: Sent[] = []
  const swap = await insertTestSwap(database.pool, await insertTestAccount(database.pool))
  await moveTestSwap(database.pool, swap, 'lockRecorded')

  await retryStalledLocks(workerWith({ obstacle: '', sent }), lease, headsAt(20n, -1))

  expect(sent).toEqual([])
})

test('a lock with fee bumps and a final no-op counts as one try of three', async () => {
  const sent: Sent[] = []
  const raised = [0, 1, 2, 3].map((replacement) => ({ sender: 'raised', replacement }))
  const { swapId } = await lockFinalAt(20n, raised)
  const tried = await lockFinalAt(20n, [{}, {}, {}])
  await database.pool.query('update ops set op_deadline = $1', [OP_DEADLINE])

  await retryStalledLocks(workerWith({ obstacle: '', sent }), lease, headsAt(20n))

  expect(sent.map(({ swapIds }) => swapIds)).toEqual([[swapId]])
  expect(await stateOf(tried.swapId)).toBe('failed')
})

test('a swap that cannot be judged is reported, and the next one is processed', async () => {
  const [trap, next] = [await lockFinalAt(20n), await lockFinalAt(20n)]
  const deps = workerWith()
  deps.origin.findObstacle = async ({ id }) => {
    if (id === trap.swapId) throw new Error('Unexpected failure')
    return 'INPUT_UNAVAILABLE'
  }

  await expect(retryStalledLocks(deps, lease, headsAt(20n, -1))).rejects.toThrow('Unexpected failure')

  expect([await stateOf(trap.swapId), await stateOf(next.swapId)]).toEqual(['locking', 'failed'])
  await retryStalledLocks(workerWith(), lease, headsAt(20n))
})

const sentFor = (sent: readonly Sent[], swapId: string) =>
  sent.filter(({ swapIds }) => swapIds.includes(swapId)).map(({ role }) => role)

test('a lock without effect is retried at settle depth, before finality', async () => {
  const sent: Sent[] = []
  const { swapId } = await lockConsumedAt(20n)

  await retryStalledLocks(workerWith({ obstacle: '', sent }), lease, settledAt(19n))
  expect(sentFor(sent, swapId)).toEqual([])
  await retryStalledLocks(workerWith({ obstacle: '', sent }), lease, settledAt(20n))

  expect(sentFor(sent, swapId)).toEqual(['lock'])
})

test.each([
  ['has other code, which pays for nothing', true, 'failed', 0],
  ['is a key', false, 'locking', 1],
])('a lock without effect is tried again unless its wallet %s', async (_, isContract, state, again) => {
  const { swapId } = await lockFinalAt(20n)
  await database.pool.query(
    'update ops o set is_contract = $2 from swaps s where s.op_id = o.id and s.id = $1',
    [swapId, isContract],
  )
  const sent: Sent[] = []

  await retryStalledLocks(workerWith({ obstacle: '', sent }), lease, headsAt(20n, -1))

  expect([await stateOf(swapId), sent.filter(({ swapIds }) => swapIds.includes(swapId)).length]).toEqual([
    state,
    again,
  ])
})

test('a lock whose nonce a reorg returned is waited for', async () => {
  const sent: Sent[] = []
  const { swapId, consumed } = await lockConsumedAt(20n)
  await markAttemptsReturned(database.pool, consumed)

  await retryStalledLocks(workerWith({ obstacle: '', sent }), lease, settledAt(30n))

  expect(sentFor(sent, swapId)).toEqual([])
})

/** Swaps with these tries, all of them consumed at block 20 and final there or not. */
const triedAt20 = (tries: number, isFinal: boolean) =>
  isFinal
    ? lockFinalAt(
        20n,
        Array.from({ length: tries }, () => ({})),
      )
    : lockConsumedAt(20n, tries)

test.each<[string, boolean, Seeing]>([
  ['that the head shows', true, { shownAt: 40n }],
  ['that the final block shows', true, { shownAt: 20n }],
  ['that the head shows before finality', false, { shownAt: 40n }],
  ['that the settled block shows before finality', false, { shownAt: 30n }],
  ['without room for it', true, { room: 0 }],
])('a lock %s is not sent again', async (_, isFinal, seeing) => {
  const sent: Sent[] = []
  const { swapId } = await triedAt20(1, isFinal)
  await database.pool.query('update ops set op_deadline = $1', [OP_DEADLINE])

  await retryStalledLocks(workerWith({ obstacle: '', sent, ...seeing }), lease, settledAt(30n))

  expect([sentFor(sent, swapId), await stateOf(swapId)]).toEqual([[], 'locking'])
})

test('a swap with three tries does not fail while there is no price', async () => {
  const { swapId } = await triedAt20(3, true)
  await database.pool.query('update ops set op_deadline = $1', [OP_DEADLINE])

  await retryStalledLocks(workerWith({ obstacle: '', isPriced: false }), lease, settledAt(30n))

  expect(await stateOf(swapId)).toBe('locking')
})

test('a swap fails only once its locks are hard-final, whatever prevents them before', async () => {
  const sent: Sent[] = []
  const [refused, tried] = [await lockConsumedAt(20n), await lockConsumedAt(20n, 3)]

  await retryStalledLocks(workerWith(), lease, settledAt(25n))
  const early = [await stateOf(refused.swapId), await stateOf(tried.swapId)]
  await markAttemptsFinal(database.pool, [...refused.consumed, ...tried.consumed], 20n)
  await retryStalledLocks(workerWith({ sent }), lease, settledAt(30n))

  expect(early).toEqual(['locking', 'locking'])
  expect([await stateOf(refused.swapId), await stateOf(tried.swapId)]).toEqual(['failed', 'failed'])
  expect(sent).toEqual([])
})

/** A swap that was delivered before its lock was final. */
async function paidEarly(tries = 1, isFinal = true) {
  const swap = await triedAt20(tries, isFinal)
  await moveTestSwap(database.pool, swap, 'lockSeen', { originTxHash: '0xlock', lockedBlock: 1n })
  await moveTestSwap(database.pool, swap, 'deliveryRecorded', { deliveryTxHash: '0xdelivery' })
  await moveTestSwap(database.pool, swap, 'deliverySeen', { deliveryTxHash: '0xdelivery', delivered: 990n })
  await database.pool.query('update ops set op_deadline = $1', [OP_DEADLINE])
  // A reorg undid the lock.
  await database.pool.query('update swaps set locked_block = null where id = $1', [swap.swapId])
  return swap
}

test('a paid swap that lost its soft lock for good is locked again', async () => {
  const sent: Sent[] = []
  const { swapId } = await paidEarly()

  await retryStalledLocks(workerWith({ obstacle: '', sent }), lease, headsAt(20n))

  expect(sentFor(sent, swapId)).toEqual(['lock'])
  expect(
    await sent
      .find(({ swapIds }) => swapIds.includes(swapId))
      ?.record(database.pool as never, { attemptId: '1', txHash: '0x' }),
  ).toBe(true)
  expect(await stateOf(swapId)).toBe('settled')
})

test.each<[string, number, boolean, Seeing, string[]]>([
  ['is locked again before finality', 2, false, {}, ['lock']],
  ['is not locked a fourth time before finality', 3, false, {}, []],
  ['is locked a fourth time after finality', 3, true, {}, ['lock']],
  ['waits while its key has no room', 1, true, { room: 0 }, []],
])('a paid swap that lost its lock %s', async (_, tries, isFinal, seeing, roles) => {
  const sent: Sent[] = []
  const { swapId } = await paidEarly(tries, isFinal)

  await retryStalledLocks(workerWith({ obstacle: '', sent, ...seeing }), lease, settledAt(30n))

  expect(sentFor(sent, swapId)).toEqual(roles)
})

test('a paid swap is not locked again after its deadline', async () => {
  const sent: Sent[] = []
  await paidEarly()

  await retryStalledLocks(workerWith({ obstacle: '', sent }), lease, headsAt(20n, OP_DEADLINE))

  expect(sent).toEqual([])
})

test('a paid swap is not locked again against an obstacle, and neither is a final lock', async () => {
  const sent: Sent[] = []
  const refused = await paidEarly()
  const final = await paidEarly()
  await markOriginFinal(database.pool, await findSwaps(database.pool, [final.swapId]))

  await retryStalledLocks(workerWith({ sent }), lease, headsAt(20n))

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

test('a swap whose tries nodes refused because of its wallet fails for its authorization', async () => {
  const refused = await lockFinalAt(20n, [{}, {}, {}])
  const other = await lockFinalAt(20n, [{}, {}, {}])
  await database.pool.query('update ops set op_deadline = $1', [OP_DEADLINE])
  await database.pool.query(
    `update tx_attempts set refusal = 'authority' where id in (
       select attempt_id from attempt_swaps where swap_id = $1)`,
    [refused.swapId],
  )

  await retryStalledLocks(workerWith({ obstacle: '' }), lease, headsAt(20n))

  expect(await failureOf(refused)).toBe('INVALID_AUTHORIZATION')
  expect(await failureOf(other)).toBe('INPUT_UNAVAILABLE')
})

test('a lock is tried again by fresh prices', async () => {
  const { swapId } = await lockFinalAt(20n)
  await database.pool.query('update ops set op_deadline = $1', [OP_DEADLINE])
  const sent: Sent[] = []
  let isFresh = false
  const refreshPrices = async () => {
    isFresh = true
  }
  const worker = workerWith({ obstacle: '', sent })
  const paidNow: LockDeps['paidNow'] = (op, at) => (isFresh ? worker.paidNow(op, at) : undefined)

  await retryStalledLocks({ ...worker, refreshPrices, paidNow }, lease, headsAt(20n))

  expect(sent.flatMap(({ swapIds }) => swapIds)).toContain(swapId)
})
