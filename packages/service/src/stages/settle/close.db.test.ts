import { beforeEach, expect, test } from 'vitest'
import { storeTestEvents } from '../../../test/support/chain-events.ts'
import { insertTestAccount, useTestDatabase } from '../../../test/support/database.ts'
import { insertTestSwap, moveTestSwap, settleTestSwap, type TestSwap } from '../../../test/support/swaps.ts'
import type { Block, ChainEvent, Heads, LockRef, LockState } from '../../chains/chain.ts'
import { createMoves } from '../../engine/advance.ts'
import { findFinalEvents, storePage } from '../../store/chain-events.ts'
import { bookDelivery, findLostInputs, markOriginFinal, writeOffInput } from '../../store/exposure.ts'
import { readExposure } from '../../store/figures.ts'
import { findSwaps, findToPropose, markDeliveriesFinal } from '../../store/swaps.ts'
import { closeSwaps } from './close.ts'

const CHAIN = 31_337

const database = useTestDatabase()
beforeEach(() => database.pool.query('truncate swaps, ops, chain_events, ring_positions, exposure cascade'))

const block: Block = { number: 20n, height: 20n, hash: '0x14', seconds: 700 }
const heads: Heads = { head: block, settle: block, hard: block }

type Stage = 'locking' | 'locked' | 'delivering' | 'settled' | 'claimed'

async function insertAt(stage: Stage): Promise<TestSwap> {
  const { pool } = database
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))
  await pool.query(
    `insert into ring_positions (chain_id, locker, position, last_round, op_id)
     select origin_chain, locker, 0, 1, op_id from swaps where id = $1`,
    [swap.swapId],
  )
  if (stage === 'settled' || stage === 'claimed') await settleTestSwap(pool, swap)
  else await moveTestSwap(pool, swap, 'lockRecorded')
  if (stage === 'locked' || stage === 'delivering')
    await moveTestSwap(pool, swap, 'lockSeen', { originTxHash: '0xlock', lockedBlock: 1n })
  if (stage === 'delivering')
    await moveTestSwap(pool, swap, 'deliveryRecorded', { deliveryTxHash: '0xdelivery' })
  if (stage === 'claimed') await moveTestSwap(pool, swap, 'claimFinal', { claimedBySeconds: 1 })
  return swap
}

type Seen = { state?: LockState | 'unreadable'; movesMeanwhile?: boolean }

/** Applies an event of this kind in a final block that shows the input in this state. */
async function apply({ swapId }: TestSwap, kind: ChainEvent['kind'], { state, movesMeanwhile }: Seen = {}) {
  const { pool } = database
  await storeTestEvents(pool, CHAIN, kind, await findSwaps(pool, [swapId]))
  const events = await findFinalEvents(pool, { chainId: CHAIN, hard: 20n, limit: 10 })
  const moved: string[] = []
  const readLocks = async (ops: readonly LockRef[]) => {
    if (movesMeanwhile)
      await pool.query('update swaps set version = version + 1, updated_at = now() where id = $1', [swapId])
    if (state === 'unreadable') return new Map()
    return new Map(ops.map(({ hash }) => [hash, state ?? (kind as LockState)]))
  }
  const deps = {
    pool,
    origin: { chainId: CHAIN, readLocks } as never,
    moves: createMoves(pool, ({ id }, { event }) => moved.push(`${id === swapId} ${event}`)),
  }
  const faults: unknown[] = []
  const contradicted = await closeSwaps(deps, heads, events, faults)
  const [swap] = await findSwaps(pool, [swapId])
  const left = await findFinalEvents(pool, { chainId: CHAIN, hard: 20n, limit: 10 })
  const positions = await pool.query('select op_id from ring_positions')
  return {
    state: swap?.state,
    isFinal: swap?.originFinal,
    losses: await findLostInputs(pool),
    moved,
    faults,
    contradicted: contradicted.map(({ kind }) => kind),
    isDone: left.length === 0,
    isFree: positions.rows[0].op_id === null,
  }
}

const waits = { moved: [], faults: [], losses: [], contradicted: [], isDone: false, isFree: false }

test.each<[Stage, LockState]>([
  ['locked', 'locked'],
  ['settled', 'claimed'],
])('the lock of a %s swap becomes final, although its input is %s', async (stage, state) => {
  expect(await apply(await insertAt(stage), 'locked', { state })).toEqual({
    ...{ ...waits, state: stage, isFinal: true, isDone: true },
  })
})

test('the claim of a paid swap closes it and frees its position', async () => {
  expect(await apply(await insertAt('settled'), 'claimed')).toMatchObject({
    ...{ state: 'closed', moved: ['true claimFinal'], contradicted: [], isDone: true, isFree: true },
  })
})

test('a refund of an unpaid swap ends it and frees its position', async () => {
  expect(await apply(await insertAt('locked'), 'refunded')).toMatchObject({
    ...{ state: 'refunded', moved: ['true refundFinal'], contradicted: [], isDone: true, isFree: true },
  })
})

test.each([
  ['paid to its wallet', undefined, false],
  ['credited to another wallet of its transaction', ['other'], false],
  ['credited to its wallet', ['other', 'wallet'], true],
])('a refund that was %s is told so, with its transaction', async (_, creditedTo, credited) => {
  const { pool } = database
  const { swapId } = await insertAt('locked')
  const [swap] = await findSwaps(pool, [swapId])
  const at = { block: 20n, blockHash: '0x20', txHash: '0xrefund' }
  const refunded = {
    ...at,
    kind: 'refunded' as const,
    id: swap?.op.hash ?? '',
    ...(creditedTo && { creditedTo }),
  }
  await finalize([refunded])

  const { rows } = await pool.query('select refund_tx_hash, refund_reason, credited from swaps')
  expect(rows).toEqual([{ refund_tx_hash: '0xrefund', refund_reason: 'DELIVERY_EXPIRED', credited }])
})

/** Applies these events in a final block that shows every input as refunded. Returns the events that are left. */
async function finalize(stored: ChainEvent[]) {
  const { pool } = database
  await storePage(pool, { chainId: CHAIN, events: stored, to: 20n, seconds: -1, gone: [] }, async () => {})
  const readLocks = async (ops: readonly LockRef[]) =>
    new Map(ops.map(({ hash }): [string, LockState] => [hash, 'refunded']))
  const deps = { pool, origin: { chainId: CHAIN, readLocks } as never, moves: createMoves(pool, () => {}) }
  const find = () => findFinalEvents(pool, { chainId: CHAIN, hard: 20n, limit: 10 })
  expect(await closeSwaps(deps, heads, await find(), [])).toEqual([])
  return find()
}

test('events of no swap need no work', async () => {
  const at = { block: 20n, blockHash: '0x20', txHash: '0xclaim' }

  expect(await finalize([{ ...at, kind: 'claimed', id: 'unknown' }])).toEqual([])
})

test.each<[string, Stage, ChainEvent['kind'], Seen]>([
  ['the lock of a swap whose lock is not confirmed', 'locking', 'locked', {}],
  ['the claim of a swap that is not known to be paid', 'delivering', 'claimed', {}],
  ['the refund of a paid swap whose delivery is not final', 'settled', 'refunded', {}],
  ['an exit that the escrow cannot show now', 'settled', 'claimed', { state: 'unreadable' }],
  ['the claim of a swap that moved meanwhile', 'settled', 'claimed', { movesMeanwhile: true }],
])('%s waits', async (_, stage, kind, seen) => {
  expect(await apply(await insertAt(stage), kind, seen)).toMatchObject({ ...waits, isFinal: false })
})

test.each([
  ['closed as a loss', false, { state: 'closed', moved: ['true inputLost'], isDone: true, isFree: true }],
  ['left to the next look if it moved meanwhile', true, { ...waits, state: 'settled' }],
])('a swap that was paid for good and refunded is %s', async (_, movesMeanwhile, found) => {
  const swap = await insertAt('settled')
  await database.pool.query('update swaps set delivery_final = true')

  expect(await apply(swap, 'refunded', { movesMeanwhile })).toMatchObject(found)
})

test.each<[ChainEvent['kind'], Stage, LockState]>([
  ['locked', 'locked', 'none'],
  ['claimed', 'settled', 'locked'],
  ['refunded', 'locked', 'claimed'],
])('a %s event of a %s swap is contradicted by an input that is %s', async (kind, stage, state) => {
  const found = await apply(await insertAt(stage), kind, { state })

  expect(found).toMatchObject({ ...waits, state: stage, contradicted: [kind], isFinal: false })
})

test('an event of a swap that ended needs no more work', async () => {
  expect(await apply(await insertAt('claimed'), 'claimed', { state: 'none' })).toMatchObject({
    ...{ state: 'closed', moved: [], contradicted: [], isDone: true },
  })
})

test('a wrong sum of exposure holds up its own swap, and no other of the page', async () => {
  const { pool } = database
  const right = await insertAt('locked')
  await pool.query('delete from ring_positions')
  const wrong = await insertAt('locked')
  await pool.query('delete from exposure')
  await pool.query('insert into exposure (chain_id, cents) values ($1, 5)', [CHAIN])
  await pool.query('update swaps set exposed_cents = case when id = $1 then 3 else 100 end', [right.swapId])
  const ids = [right.swapId, wrong.swapId]
  await storeTestEvents(pool, CHAIN, 'locked', await findSwaps(pool, ids))
  const events = await findFinalEvents(pool, { chainId: CHAIN, hard: 20n, limit: 10 })
  const readLocks = async (ops: readonly LockRef[]) => new Map(ops.map(({ hash }) => [hash, 'locked']))
  const deps = { pool, origin: { chainId: CHAIN, readLocks } as never, moves: createMoves(pool, () => {}) }
  const faults: unknown[] = []

  await closeSwaps(deps, heads, events, faults)

  const final = await findSwaps(pool, ids)
  expect(final.filter(({ originFinal }) => originFinal).map(({ id }) => id)).toEqual([right.swapId])
  expect(faults).toMatchObject([{ constraint: 'exposure_cents_check' }])
  const left = await findFinalEvents(pool, { chainId: CHAIN, hard: 20n, limit: 10 })
  expect(left.map(({ id }) => id)).toEqual(
    final.filter(({ id }) => id === wrong.swapId).map(({ op }) => op.hash),
  )
})

const VALUE = 601n

/** A chain past every deadline, on which every input is in this state. */
function closer(state: LockState): Parameters<typeof closeSwaps>[0] {
  const readLocks = async (ops: readonly LockRef[]) => new Map(ops.map(({ hash }) => [hash, state]))
  const origin = { chainId: CHAIN, readLocks, isLockOver: () => true }
  return { pool: database.pool, origin: origin as never, moves: createMoves(database.pool, () => {}) }
}

const proofOf = async (swapId: string) =>
  (await database.pool.query('select proof from swaps where id = $1', [swapId])).rows[0].proof

test('a paid swap that can never be locked is closed, and its value is exposed until it is written off', async () => {
  const { pool } = database
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))
  await settleTestSwap(pool, swap)
  await pool.query('update ops set value_cents = $1', [VALUE.toString()])
  await bookDelivery(pool, {
    chainId: CHAIN,
    swaps: await findSwaps(pool, [swap.swapId]),
    caps: { exposedCents: 10_000n, unclaimedCents: 10_000n },
  })
  await markDeliveriesFinal(pool, [{ id: swap.swapId, deliveryTxHash: '0xdelivery' }])
  // A reorg undid the lock.
  await pool.query('update swaps set locked_block = null')

  await closeSwaps(closer('none'), heads, [], [])

  const [closed] = await findSwaps(pool, [swap.swapId])
  expect(closed).toMatchObject({ state: 'closed', originFinal: false })
  expect(await proofOf(swap.swapId)).toMatchObject({ kind: 'notLockedPastDeadline', chainId: CHAIN })
  expect(await findLostInputs(pool)).toMatchObject([{ swapId: swap.swapId, chainId: CHAIN, cents: VALUE }])
  expect(await readExposure(pool)).toMatchObject([{ chainId: CHAIN, cents: VALUE, lostCents: VALUE }])

  const elsewhere = CHAIN + 1
  await pool.query('insert into exposure (chain_id, cents, unclaimed_cents) values ($1, 7, 7)', [elsewhere])
  const loss = { swapId: swap.swapId, note: 'reorg of four blocks' }
  expect([await writeOffInput(pool, loss), await writeOffInput(pool, loss)]).toEqual([true, false])
  const { rows } = await pool.query('delete from exposure where chain_id = $1 returning cents', [elsewhere])
  expect(rows).toEqual([{ cents: '7' }])
  expect(await findLostInputs(pool)).toEqual([])
  expect(await readExposure(pool)).toMatchObject([{ chainId: CHAIN, cents: 0n, lostCents: 0n }])
})

test('a swap whose input was refunded after the delivery is closed, and its value counts as lost', async () => {
  const { pool } = database
  const { swapId, accountId } = await insertTestSwap(pool, await insertTestAccount(pool))
  await settleTestSwap(pool, { swapId, accountId })
  await pool.query('update ops set value_cents = $1', [VALUE.toString()])
  const swaps = await findSwaps(pool, [swapId])
  await bookDelivery(pool, {
    chainId: CHAIN,
    swaps,
    caps: { exposedCents: 10_000n, unclaimedCents: 10_000n },
  })
  await markOriginFinal(pool, swaps)
  await markDeliveriesFinal(pool, [{ id: swapId, deliveryTxHash: '0xdelivery' }])

  await storeTestEvents(pool, CHAIN, 'refunded', swaps)
  const events = await findFinalEvents(pool, { chainId: CHAIN, hard: 20n, limit: 10 })
  await closeSwaps(closer('refunded'), heads, events, [])

  expect(await findSwaps(pool, [swapId])).toMatchObject([{ state: 'closed', originFinal: true }])
  expect(await proofOf(swapId)).toMatchObject({ kind: 'refundedAfterDelivery', chainId: CHAIN })
  expect(await findToPropose(pool, { kind: 'claim', chainId: CHAIN })).toEqual([])
  expect(await readExposure(pool)).toMatchObject([{ chainId: CHAIN, cents: VALUE, lostCents: VALUE }])

  await writeOffInput(pool, { swapId, note: 'the attester was down' })
  expect(await readExposure(pool)).toMatchObject([{ chainId: CHAIN, cents: 0n, lostCents: 0n }])
})
