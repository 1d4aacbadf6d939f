import { beforeAll, beforeEach, expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { insertTestSwap, moveTestSwap, settleTestSwap } from '../../test/support/swaps.ts'
import type { ChainEvent } from '../chains/chain.ts'
import type { Swap } from '../swap/swap.ts'
import {
  closeEvents,
  discardEvents,
  findEvents,
  findFinalEvents,
  findOpenEvents,
  readCursor,
  rewindCursor,
  storePage,
} from './chain-events.ts'
import { findSwaps } from './swaps.ts'

const ORIGIN = 31_337
const DESTINATION = 31_338

const database = useTestDatabase()
let account: string
beforeAll(async () => {
  account = await insertTestAccount(database.pool)
})
beforeEach(() => database.pool.query('truncate chain_events, chain_cursors'))

const none = async () => {}

function eventAt(block: bigint, { kind = 'locked', id = '0xop' }: Partial<ChainEvent> = {}): ChainEvent {
  return { kind, id, block, blockHash: `0xhash${block}`, txHash: `0xtx${block}` }
}

async function store(chainId: number, events: ChainEvent[], more: { to?: bigint; gone?: ChainEvent[] } = {}) {
  const { to = 100n, gone = [] } = more
  await storePage(database.pool, { chainId, events, to, seconds: 1_000, gone }, none)
}

async function insertSettled(): Promise<Swap> {
  const swap = await insertTestSwap(database.pool, account)
  await settleTestSwap(database.pool, swap)
  await database.pool.query('update swaps set delivered_block = 1 where id = $1', [swap.swapId])
  return read(swap.swapId)
}

async function read(id: string): Promise<Swap> {
  const [swap] = await findSwaps(database.pool, [id])
  if (!swap) throw new Error('Swap not found')
  return swap
}

const blocksOf = async ({ id }: Swap) =>
  (await database.pool.query('select locked_block, delivered_block from swaps where id = $1', [id])).rows[0]

test('a page is stored with its cursor, and a restart continues from there', async () => {
  expect(await readCursor(database.pool, ORIGIN)).toBeUndefined()

  await store(ORIGIN, [eventAt(7n)], { to: 50n })
  await store(ORIGIN, [], { to: 99n })

  expect(await readCursor(database.pool, ORIGIN)).toBe(99n)
  const found = await findEvents(database.pool, { chainId: ORIGIN, kind: 'locked', ids: ['0xop'] })
  expect(found.get('0xop')).toMatchObject({ block: 7n, txHash: '0xtx7', seenAt: 1_000, isFinal: false })
})

test('the cursor moves back to a missed log, and never forward', async () => {
  await store(ORIGIN, [], { to: 99n })

  await rewindCursor(database.pool, { chainId: ORIGIN, to: 40n })
  await rewindCursor(database.pool, { chainId: ORIGIN, to: 70n })

  expect(await readCursor(database.pool, ORIGIN)).toBe(40n)
})

test('reading a page twice changes nothing, and keeps the time of the first sighting', async () => {
  await store(ORIGIN, [eventAt(7n)])
  await storePage(
    database.pool,
    { chainId: ORIGIN, events: [eventAt(7n)], to: 100n, seconds: 2_000, gone: [] },
    none,
  )

  expect(await findOpenEvents(database.pool, { chainId: ORIGIN, from: 0n, to: 100n })).toMatchObject([
    { block: 7n, seenAt: 1_000 },
  ])
})

test('a swap follows its delivery to another block after a reorg, hash included', async () => {
  const swap = await insertSettled()
  const { deliveryHash: id } = swap.op
  await store(DESTINATION, [eventAt(7n, { kind: 'delivered', id })])

  await store(DESTINATION, [eventAt(8n, { kind: 'delivered', id })])

  expect(await blocksOf(swap)).toMatchObject({ delivered_block: '8' })
  expect((await read(swap.id)).deliveryTxHash).toBe('0xtx8')
})

test('a reorg that undoes lock and delivery leaves a delivered swap without either', async () => {
  const swap = await insertSettled()
  const lock = eventAt(7n, { id: swap.op.hash })
  const delivery = eventAt(7n, { kind: 'delivered', id: swap.op.deliveryHash })
  await store(ORIGIN, [lock])
  await store(DESTINATION, [delivery])

  await store(ORIGIN, [], { gone: [lock] })
  await store(DESTINATION, [], { gone: [delivery] })

  expect(await blocksOf(swap)).toEqual({ locked_block: null, delivered_block: null })
  expect((await read(swap.id)).state).toBe('settled')
})

test('swaps move back in the transaction that removes their event, or the event stays', async () => {
  const swap = await insertTestSwap(database.pool, account)
  await moveTestSwap(database.pool, swap, 'lockRecorded')
  await moveTestSwap(database.pool, swap, 'lockSeen', { originTxHash: '0xtx7', lockedBlock: 7n })
  const { op } = await read(swap.swapId)
  const lock = eventAt(7n, { id: op.hash })
  await store(ORIGIN, [lock])
  const page = { chainId: ORIGIN, events: [], to: 100n, seconds: 0, gone: [lock] }

  await expect(storePage(database.pool, page, () => Promise.reject(new Error('crash')))).rejects.toThrow(
    'crash',
  )

  expect((await findEvents(database.pool, { chainId: ORIGIN, kind: 'locked', ids: [op.hash] })).size).toBe(1)
})

test('a final event stays, whatever a node reports later', async () => {
  const event = eventAt(7n)
  await store(ORIGIN, [event])
  await closeEvents(database.pool, ORIGIN, [event])

  await store(ORIGIN, [eventAt(9n)], { gone: [event] })

  const found = await findEvents(database.pool, { chainId: ORIGIN, kind: 'locked', ids: ['0xop'] })
  expect(found.get('0xop')).toMatchObject({ block: 7n, isFinal: true })
  expect(await findFinalEvents(database.pool, { chainId: ORIGIN, hard: 100n, limit: 10 })).toEqual([])
})

test('an event that the final state contradicts is removed, and its blocks are scanned again', async () => {
  await store(ORIGIN, [eventAt(7n), eventAt(20n, { id: '0xother' })], { to: 99n })
  const [event] = await findFinalEvents(database.pool, { chainId: ORIGIN, hard: 10n, limit: 10 })
  if (!event) throw new Error('Event not found')

  await discardEvents(database.pool, ORIGIN, [event], none)

  expect(await readCursor(database.pool, ORIGIN)).toBe(6n)
  const left = await findOpenEvents(database.pool, { chainId: ORIGIN, from: 0n, to: 100n })
  expect(left.map(({ id }) => id)).toEqual(['0xother'])
})

test('an event of another chain, kind or op stays as it is', async () => {
  const { pool } = database
  const [mine, other, claim] = [eventAt(7n), eventAt(8n, { id: '0xother' }), eventAt(9n, { kind: 'claimed' })]
  const all = async (chainId: number) =>
    (await findOpenEvents(pool, { chainId, from: 0n, to: 100n })).map(({ kind, id }) => `${kind} ${id}`)
  for (const chainId of [ORIGIN, DESTINATION]) await store(chainId, [mine, other, claim])

  const found = await findEvents(pool, { chainId: ORIGIN, kind: 'locked', ids: ['0xop'] })
  expect([...found.values()]).toMatchObject([{ kind: 'locked', block: 7n }])
  await closeEvents(pool, ORIGIN, [mine])
  expect(await all(ORIGIN)).toEqual(['locked 0xother', 'claimed 0xop'])
  await store(ORIGIN, [], { gone: [claim] })
  await rewindCursor(pool, { chainId: ORIGIN, to: 3n })

  expect(await all(ORIGIN)).toEqual(['locked 0xother'])
  expect(await all(DESTINATION)).toEqual(['locked 0xop', 'locked 0xother', 'claimed 0xop'])
  expect(await readCursor(pool, DESTINATION)).toBe(100n)
})

test('events are listed by block, first and last included', async () => {
  await store(
    ORIGIN,
    [9n, 7n, 8n, 6n].map((block) => eventAt(block, { id: `0x${block}` })),
  )
  await store(DESTINATION, [eventAt(8n)])
  const idsOf = (events: readonly ChainEvent[]) => events.map(({ id }) => id)

  expect(idsOf(await findOpenEvents(database.pool, { chainId: ORIGIN, from: 7n, to: 8n }))).toEqual([
    '0x7',
    '0x8',
  ])
  expect(idsOf(await findFinalEvents(database.pool, { chainId: ORIGIN, hard: 8n, limit: 10 }))).toEqual([
    '0x6',
    '0x7',
    '0x8',
  ])
  expect(idsOf(await findFinalEvents(database.pool, { chainId: ORIGIN, hard: 8n, limit: 1 }))).toEqual([
    '0x6',
  ])
})

test('an event keeps its amount, and those who were credited', async () => {
  const refund: ChainEvent = { ...eventAt(7n, { kind: 'refunded' }), amount: 5n, creditedTo: ['a', 'b'] }
  await store(ORIGIN, [refund, eventAt(7n)])
  const read = async (kind: ChainEvent['kind']) =>
    (await findEvents(database.pool, { chainId: ORIGIN, kind, ids: ['0xop'] })).get('0xop')

  expect(await read('refunded')).toMatchObject({ amount: 5n, creditedTo: ['a', 'b'] })
  expect(Object.keys((await read('locked')) ?? {})).not.toContain('amount')
  expect(Object.keys((await read('locked')) ?? {})).not.toContain('creditedTo')
})

// An op and its delivery have the same name here: only the kind of an event says which of them it is about.
test.each<[string, ChainEvent['kind'], string, object]>([
  ['a lock that moved', 'locked', '', { locked_block: '8', delivered_block: '1' }],
  ['a delivery that moved', 'delivered', '', { locked_block: '1', delivered_block: '8' }],
  ['a final lock', 'locked', 'origin_final = true', { locked_block: '1', delivered_block: '1' }],
  ['a final delivery', 'delivered', 'delivery_final = true', { locked_block: '1', delivered_block: '1' }],
  [
    'a lock that is not counted',
    'locked',
    'locked_block = null',
    { locked_block: null, delivered_block: '1' },
  ],
  [
    'a delivery that is not counted',
    'delivered',
    'delivered_block = null',
    { locked_block: '1', delivered_block: null },
  ],
  ['a claim', 'claimed', '', { locked_block: '1', delivered_block: '1' }],
])('a swap follows %s, or not', async (_, kind, change, blocks) => {
  const [swap, other] = [await insertSettled(), await insertSettled()]
  if (change) await database.pool.query(`update swaps set ${change} where id = $1`, [swap.id])

  await store(ORIGIN, [eventAt(8n, { kind, id: swap.op.hash })])

  expect(await blocksOf(swap)).toEqual(blocks)
  expect(await blocksOf(other)).toEqual({ locked_block: '1', delivered_block: '1' })
})

test.each<[string, ChainEvent['kind'], string, object]>([
  ['a lock', 'locked', '', { locked_block: null, delivered_block: '1' }],
  ['a delivery', 'delivered', '', { locked_block: '1', delivered_block: null }],
  ['a claim', 'claimed', '', { locked_block: '1', delivered_block: '1' }],
  ['a lock that is final', 'locked', 'origin_final = true', { locked_block: '1', delivered_block: '1' }],
  [
    'a delivery that is final',
    'delivered',
    'delivery_final = true',
    { locked_block: '1', delivered_block: '1' },
  ],
])('a reorg that undoes %s changes that alone', async (_, kind, change, blocks) => {
  const [swap, other] = [await insertSettled(), await insertSettled()]
  const event = eventAt(1n, { kind, id: swap.op.hash })
  await store(ORIGIN, [event])
  if (change) await database.pool.query(`update swaps set ${change} where id = $1`, [swap.id])

  await store(ORIGIN, [], { gone: [event] })

  expect(await blocksOf(swap)).toEqual(blocks)
  expect(await blocksOf(other)).toEqual({ locked_block: '1', delivered_block: '1' })
})

test('the lock of a swap that is not paid stays for the undo, which moves the swap back', async () => {
  const swap = await insertTestSwap(database.pool, account)
  await moveTestSwap(database.pool, swap, 'lockRecorded')
  await moveTestSwap(database.pool, swap, 'lockSeen', { originTxHash: '0xtx7', lockedBlock: 7n })
  const { op, id } = await read(swap.swapId)
  const lock = eventAt(7n, { id: op.hash })
  await store(ORIGIN, [lock])

  await store(ORIGIN, [], { gone: [lock] })

  expect(await blocksOf({ id } as Swap)).toMatchObject({ locked_block: '7' })
})

test('a delivery changes the time of its swap only with another transaction', async () => {
  const swap = await insertSettled()
  const delivery = eventAt(7n, { kind: 'delivered', id: swap.op.deliveryHash })
  const changedAt = async () =>
    (await database.pool.query('select updated_at from swaps where id = $1', [swap.id])).rows[0].updated_at
  await store(DESTINATION, [delivery])
  const before = await changedAt()

  await store(DESTINATION, [{ ...delivery, block: 8n }])
  expect(await changedAt()).toEqual(before)
  await store(DESTINATION, [{ ...delivery, block: 8n, txHash: '0xother' }])

  expect(await changedAt()).not.toEqual(before)
})

test('nothing is scanned again if nothing is contradicted, and from the first block otherwise', async () => {
  const all = [eventAt(9n), eventAt(4n, { id: '0xother' }), eventAt(7n, { id: '0xthird' })]
  await store(ORIGIN, all, { to: 99n })

  await discardEvents(database.pool, ORIGIN, [], none)
  expect(await readCursor(database.pool, ORIGIN)).toBe(99n)
  const undone: string[] = []
  await discardEvents(database.pool, ORIGIN, all, async (_db, gone) => {
    undone.push(...gone.map(({ id }) => id))
  })

  expect(await readCursor(database.pool, ORIGIN)).toBe(3n)
  expect(undone).toEqual(['0xop', '0xother', '0xthird'])
})
