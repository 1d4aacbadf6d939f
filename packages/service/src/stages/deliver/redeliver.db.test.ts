import { beforeAll, expect, test } from 'vitest'
import { insertTestAttempt } from '../../../test/support/attempts.ts'
import { insertTestAccount, useTestDatabase } from '../../../test/support/database.ts'
import { holdTestLane } from '../../../test/support/lanes.ts'
import { stub } from '../../../test/support/stub.ts'
import { insertTestSwap, lockTestSwap, moveTestSwap } from '../../../test/support/swaps.ts'
import type { Block, Heads } from '../../chains/chain.ts'
import { createMoves } from '../../engine/advance.ts'
import type { Work } from '../../engine/sender.ts'
import { markAttemptsConsumed, markAttemptsFinal, markAttemptsReturned } from '../../store/attempts.ts'
import { inTransaction } from '../../store/db.ts'
import { markOriginFinal } from '../../store/exposure.ts'
import type { Lease } from '../../store/lanes.ts'
import { findSwaps } from '../../store/swaps.ts'
import type { Op } from '../../swap/swap.ts'
import { type DeliverDeps, redeliverStalled } from './deliver.ts'

const database = useTestDatabase()
let lease: Lease

beforeAll(async () => {
  lease = await holdTestLane(database, 'deliver')
})

function headsAt(number: bigint): Heads {
  const block: Block = { number, height: number, hash: `0x${number}`, seconds: 0 }
  return { head: block, settle: block, hard: block }
}

/** A swap with a final input that is being delivered. */
async function insertDelivering() {
  const swap = await insertTestSwap(database.pool, await insertTestAccount(database.pool))
  await lockTestSwap(database.pool, swap)
  await moveTestSwap(database.pool, swap, 'deliveryRecorded', { deliveryTxHash: '0xdelivery' })
  await markOriginFinal(database.pool, await findSwaps(database.pool, [swap.swapId]))
  return swap
}

/** A swap whose only delivery was consumed at a hard-final block, with an unknown effect. */
async function deliveryFinalAt(block: bigint) {
  const swap = await insertDelivering()
  const id = await insertTestAttempt(database.pool, swap, 'deliver')
  await markAttemptsFinal(database.pool, [{ id }], block)
  return swap
}

/** Heads, each ten blocks apart. */
function settledAt(number: bigint): Heads {
  const [{ hard }, { settle }, { head }] = [headsAt(number - 10n), headsAt(number), headsAt(number + 10n)]
  return { head, settle, hard }
}

/** A swap whose deliveries had no effect, in a block that a reorg can still undo. */
async function deliveryConsumedAt(block: bigint, tries = 1) {
  const swap = await insertDelivering()
  const ids = await Promise.all(
    Array.from({ length: tries }, () =>
      insertTestAttempt(database.pool, swap, 'deliver', { chainId: 31338 }),
    ),
  )
  const consumed = ids.map((id) => ({ id }))
  await markAttemptsConsumed(database.pool, consumed, block)
  return { ...swap, consumed }
}

/** A worker that sees no delivery and a recipient that refuses the next one, at fees above every bound. */
function workerWith({ isVerified = true, sent = [] as Work[] } = {}): DeliverDeps {
  const deps = {
    pool: database.pool,
    sender: {
      address: 'deliverer',
      room: () => 1,
      affords: async () => false,
      termsAt: async () => ({}),
      send: async (_lease: Lease, _heads: Heads, work: Work) => sent.push(work) > 0,
    },
    share: () => ({ index: 0, of: 1 }),
    capsOf: () => ({ exposedCents: 1_000_000n, unclaimedCents: 1_000_000n }),
    hardSecondsOf: () => 60,
    isVerified: () => isVerified,
    isPayable: async () => true,
    destination: {
      chainId: 31338,
      maxBatch: 20,
      planDelivery: async () => ({}),
      readUndelivered: async (ops: readonly Op[]) => {
        if (ops.length === 0) throw new Error('asked about nothing')
        return new Set(ops.map(({ hash }) => hash))
      },
      simulateDelivery: async () => ({ kind: 'recipientRefuses' }),
    },
    isLive: () => true,
    downSeconds: () => 0,
    isPriceKept: () => true,
    refreshPrices: async () => {},
    cutOffSeconds: 0,
    patienceSeconds: 60,
    isClaimable: () => true,
    isLate: () => false,
    moves: createMoves(database.pool, () => {}),
  }
  return stub<DeliverDeps>(deps)
}

const stateOf = async (swapId: string) => (await findSwaps(database.pool, [swapId]))[0]?.state

test('a worker that was away does not refund by a block from before its delivery was decided', async () => {
  const { swapId } = await deliveryFinalAt(20n)

  await redeliverStalled(workerWith(), lease, headsAt(19n))

  expect(await stateOf(swapId)).toBe('delivering')
})

test('a swap is refunded if its deliveries were decided by the block that shows it unpaid', async () => {
  const { swapId } = await deliveryFinalAt(20n)

  await redeliverStalled(workerWith(), lease, headsAt(20n))

  expect(await stateOf(swapId)).toBe('refundDecided')
})

test('a swap reported as settled is delivered again at any gas price', async () => {
  const swap = await deliveryFinalAt(20n)
  await moveTestSwap(database.pool, swap, 'deliverySeen')
  await database.pool.query('update ops set delivery_fee_bound = 1')
  const sent: Work[] = []

  await redeliverStalled(workerWith({ sent }), lease, headsAt(20n))

  expect(sent).toMatchObject([{ role: 'deliver', swapIds: [swap.swapId], feeBound: 0n }])
})

test('nothing is decided about an input on a chain that was not read since the process began', async () => {
  const { swapId } = await deliveryFinalAt(20n)

  await redeliverStalled(workerWith({ isVerified: false }), lease, headsAt(20n))

  expect(await stateOf(swapId)).toBe('delivering')
})

test('a worker that lost its lane while it was away refunds nothing', async () => {
  const { swapId } = await deliveryFinalAt(20n)
  const old = await holdTestLane(database, 'lost', 0)
  await holdTestLane(database, 'lost')

  await redeliverStalled(workerWith(), old, headsAt(20n))

  expect(await stateOf(swapId)).toBe('delivering')
})

const sentFor = (sent: readonly Work[], { swapId }: { swapId: string }) =>
  sent.filter(({ swapIds }) => swapIds.includes(swapId))

test('a delivery without effect is retried at settle depth, before finality', async () => {
  const swap = await deliveryConsumedAt(20n)
  const sent: Work[] = []
  const deps = workerWith({ sent })
  deps.destination.simulateDelivery = async () => ({ kind: 'ok' })
  deps.sender.affords = async () => true

  await redeliverStalled(deps, lease, settledAt(19n))
  expect(sentFor(sent, swap)).toEqual([])
  await redeliverStalled(deps, lease, settledAt(20n))

  expect(sentFor(sent, swap)).toHaveLength(1)
})

test('a settled delivery that a reorg undid, and that then reverted, is made again at settle depth', async () => {
  const swap = await deliveryConsumedAt(20n)
  await moveTestSwap(database.pool, swap, 'deliverySeen')
  const sent: Work[] = []

  await markAttemptsReturned(database.pool, swap.consumed)
  await redeliverStalled(workerWith({ sent }), lease, settledAt(21n))
  expect(sentFor(sent, swap)).toEqual([])
  await markAttemptsConsumed(database.pool, swap.consumed, 22n)
  await redeliverStalled(workerWith({ sent }), lease, settledAt(22n))

  expect(sentFor(sent, swap)).toHaveLength(1)
})

test('a settled delivery that was not undone is not checked again before it is final', async () => {
  const swap = await deliveryConsumedAt(20n)
  await moveTestSwap(database.pool, swap, 'deliverySeen', { deliveredBlock: 20n })
  const deps = workerWith()
  const asked: string[] = []
  deps.destination.readUndelivered = async (ops) => {
    asked.push(...ops.map(({ hash }) => hash))
    return new Set()
  }

  await redeliverStalled(deps, lease, settledAt(25n))

  const [found] = await findSwaps(database.pool, [swap.swapId])
  expect(asked).not.toContain(found?.op.hash)
})

test('a delivery that fails repeatedly at settle depth waits for finality', async () => {
  const swap = await deliveryConsumedAt(20n, 3)
  await moveTestSwap(database.pool, swap, 'deliverySeen')
  await markAttemptsReturned(database.pool, swap.consumed)
  await markAttemptsConsumed(database.pool, swap.consumed, 20n)
  const sent: Work[] = []

  await redeliverStalled(workerWith({ sent }), lease, settledAt(25n))
  expect(sentFor(sent, swap)).toEqual([])
  await markAttemptsFinal(database.pool, swap.consumed, 20n)
  await redeliverStalled(workerWith({ sent }), lease, settledAt(30n))

  expect(sentFor(sent, swap)).toHaveLength(1)
})

test('nothing is refunded before its deliveries are hard-final', async () => {
  const swap = await deliveryConsumedAt(20n)

  await redeliverStalled(workerWith(), lease, settledAt(29n))
  const early = await stateOf(swap.swapId)
  await markAttemptsFinal(database.pool, swap.consumed, 20n)
  await redeliverStalled(workerWith(), lease, settledAt(30n))

  expect([early, await stateOf(swap.swapId)]).toEqual(['delivering', 'refundDecided'])
})

test('a recipient that accepts in simulations only gets three deliveries, and then the input goes back', async () => {
  const [twice, thrice] = [await deliveryConsumedAt(20n, 2), await deliveryConsumedAt(20n, 3)]
  for (const { consumed } of [twice, thrice]) await markAttemptsFinal(database.pool, consumed, 20n)
  const sent: Work[] = []
  const deps = workerSeeing([20n, 30n, 40n], sent)

  await redeliverStalled(deps, lease, settledAt(30n))

  expect([sentFor(sent, twice).length, sentFor(sent, thrice).length]).toEqual([1, 0])
  const [refunded] = await findSwaps(database.pool, [thrice.swapId])
  expect(refunded).toMatchObject({ state: 'refundDecided', refundReason: 'RECIPIENT_INVALID' })
  expect(await stateOf(twice.swapId)).toBe('delivering')
})

/** A worker whose chain shows the swaps as undelivered at these blocks only, and accepts every delivery. */
function workerSeeing(blocks: readonly bigint[], sent: Work[]): DeliverDeps {
  const deps = workerWith({ sent })
  deps.destination.simulateDelivery = async () => ({ kind: 'ok' })
  deps.destination.readUndelivered = async (ops, at) =>
    new Set(blocks.includes(at.number) ? ops.map(({ hash }) => hash) : [])
  deps.sender.affords = async () => true
  return deps
}

// The head is at 30, the settled block at 20, the final one at 10.
test.each([
  ['neither the head nor the settled block shows it paid', [30n, 20n], 1],
  ['the head shows it paid', [20n], 0],
  ['the settled block shows it paid', [30n], 0],
  ['only the head and the final block show it unpaid', [30n, 10n], 0],
])('a delivery without effect is repeated before finality, or not: %s', async (_, blocks, count) => {
  const swap = await deliveryConsumedAt(20n)
  const sent: Work[] = []

  await redeliverStalled(workerSeeing(blocks, sent), lease, settledAt(20n))

  expect(sentFor(sent, swap)).toHaveLength(count)
})

test.each([
  ['neither the head nor the final block shows it paid', [30n, 10n], 1],
  ['the head shows it paid', [10n], 0],
  ['the final block shows it paid', [30n, 20n], 0],
])('a delivery finally without effect is repeated, or not: %s', async (_, blocks, count) => {
  const swap = await deliveryFinalAt(10n)
  const sent: Work[] = []

  await redeliverStalled(workerSeeing(blocks, sent), lease, settledAt(20n))

  expect(sentFor(sent, swap)).toHaveLength(count)
})

test('two deliveries without effect are repeated before finality, a third one waits for it', async () => {
  const [twice, thrice] = [await deliveryConsumedAt(20n, 2), await deliveryConsumedAt(20n, 3)]
  const sent: Work[] = []

  await redeliverStalled(workerSeeing([30n, 20n], sent), lease, settledAt(20n))

  expect([sentFor(sent, twice).length, sentFor(sent, thrice).length]).toEqual([1, 0])
})

test('a swap that cannot be delivered at settle depth is left unchanged', async () => {
  const swap = await deliveryConsumedAt(20n)

  await redeliverStalled(workerWith(), lease, settledAt(20n))

  expect(await stateOf(swap.swapId)).toBe('delivering')
})

test('a delivery that cannot be read is reported, and nothing is decided about it', async () => {
  const { swapId } = await deliveryFinalAt(20n)
  const deps = workerWith()
  const refused = new Error('refused')
  deps.destination.readUndelivered = async (_ops, _at, faults) => {
    faults?.push(refused)
    return new Set()
  }

  await expect(redeliverStalled(deps, lease, headsAt(20n))).rejects.toBe(refused)

  expect(await stateOf(swapId)).toBe('delivering')
})

/** Records what would be sent, in a transaction of its own. */
const record = (work: Work | undefined) =>
  inTransaction(database.pool, async (db) => work?.record(db, { attemptId: '1', txHash: '0xagain' }))

test('a swap whose input is being claimed stays so, with its new delivery', async () => {
  const swap = await deliveryFinalAt(20n)
  for (const event of ['deliverySeen', 'claimRecorded'] as const)
    await moveTestSwap(database.pool, swap, event)
  const sent: Work[] = []
  await redeliverStalled(workerWith({ sent }), lease, headsAt(20n))

  expect(await record(sent.find(({ swapIds }) => swapIds.includes(swap.swapId)))).toBe(true)

  const [found] = await findSwaps(database.pool, [swap.swapId])
  expect(found).toMatchObject({ state: 'claiming', deliveryTxHash: '0xagain' })
})

test('a delivery of a swap that moved meanwhile is not recorded, and not sent', async () => {
  const swap = await deliveryFinalAt(20n)
  await moveTestSwap(database.pool, swap, 'deliverySeen')
  const sent: Work[] = []
  await redeliverStalled(workerWith({ sent }), lease, headsAt(20n))
  await moveTestSwap(database.pool, swap, 'claimRecorded')

  expect(await record(sent.find(({ swapIds }) => swapIds.includes(swap.swapId)))).toBe(false)
})
