import type { Pool } from 'pg'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../../test/support/database.ts'
import { holdTestLane } from '../../../test/support/lanes.ts'
import { stub } from '../../../test/support/stub.ts'
import { insertTestSwap, moveTestSwap, type TestSwap } from '../../../test/support/swaps.ts'
import type { Block, ChainEvent, Heads } from '../../chains/chain.ts'
import { createMoves } from '../../engine/advance.ts'
import { findFinalEvents, readCursor, storePage } from '../../store/chain-events.ts'
import { markOriginFinal } from '../../store/exposure.ts'
import type { Lease } from '../../store/lanes.ts'
import { readStatuses } from '../../store/statuses.ts'
import { findSwaps } from '../../store/swaps.ts'
import type { SwapState } from '../../swap/lifecycle.ts'
import type { Op, Swap } from '../../swap/swap.ts'
import { type ConfirmDeliveryDeps, confirmDeliveries, finalizeDeliveries } from './confirm-delivery.ts'

const CHAIN = 31_338

const database = useTestDatabase()
let lease: Lease
beforeAll(async () => {
  lease = await holdTestLane(database, 'watch')
})
beforeEach(() =>
  database.pool.query(
    'delete from swaps; delete from ops; delete from chain_events; delete from chain_cursors',
  ),
)

const query = async (sql: string, values: unknown[] = []) => (await database.pool.query(sql, values)).rows

type Reached = Extract<SwapState, 'locked' | 'delivering' | 'settled' | 'claiming'>

/** A swap with a minimum output of 980, a fill deadline at second 1,000 and a final input. */
async function swapIn(state: Reached): Promise<TestSwap> {
  const { pool } = database
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))
  await moveTestSwap(pool, swap, 'lockRecorded')
  const steps = ['lockSeen', 'deliveryRecorded', 'deliverySeen', 'claimRecorded'] as const
  const count = ['locking', 'locked', 'delivering', 'settled', 'claiming'].indexOf(state)
  for (const step of steps.slice(0, count)) await moveTestSwap(pool, swap, step)
  await query('update ops set fill_deadline = 1000, destination_block = 5')
  await markOriginFinal(pool, [await find(swap)])
  return swap
}

async function find({ swapId }: TestSwap): Promise<Swap> {
  const [swap] = await findSwaps(database.pool, [swapId])
  if (!swap) throw new Error('Swap not found')
  return swap
}

const stateOf = async (swap: TestSwap) => (await find(swap)).state

type Seen = { amount?: bigint | undefined; block?: bigint }

/** Stores the event of its delivery, as read from the chain. */
async function storeDelivery(swap: TestSwap, { amount = 980n, block = 20n }: Seen = {}): Promise<void> {
  const { op } = await find(swap)
  const event: ChainEvent = {
    kind: 'delivered',
    id: op.deliveryHash,
    txHash: '0xpaid',
    blockHash: `0x${block}`,
    block,
    amount,
  }
  await storePage(
    database.pool,
    { chainId: CHAIN, events: [event], to: 30n, seconds: -1, gone: [] },
    async () => {},
  )
}

const blockAt = (number: bigint, seconds = 0): Block => ({ number, height: number, hash: '0x', seconds })
/** Head 20, settle depth 2: block 19 is deep enough, block 10 is final. */
const headsAt = (seconds: number): Heads => ({
  head: blockAt(20n, seconds),
  settle: blockAt(19n, seconds),
  hard: blockAt(10n, seconds),
})
const rules = { accept: [{ depth: 1 }], settle: 2, reorgWindowSeconds: 0, hard: 11, hardSeconds: 100 }

type World = {
  seconds?: number
  finalitySeconds?: number
  isOver?: boolean
  isUndelivered?: boolean
  refused?: unknown
  /** Another worker moves the swaps just before this one does. */
  movesMeanwhile?: boolean
}

function poolOfALateWorker() {
  const { pool } = database
  const query = async (sql: string, values: unknown[]) => {
    if (sql.includes('update swaps s\n       set state'))
      await pool.query('update swaps set version = version + 1')
    return pool.query(sql, values)
  }
  return { query }
}

/** Confirms deliveries once, and returns what was reported. */
async function look({ seconds = 0, isOver = false, isUndelivered = true, ...world }: World = {}) {
  const reported: string[] = []
  const pool = world.movesMeanwhile ? poolOfALateWorker() : database.pool
  const deps = {
    pool,
    rules,
    finalitySeconds: () => world.finalitySeconds,
    moves: createMoves(pool as Pool, ({ id, state, refundReason = state }) =>
      reported.push(`${refundReason} ${id}`),
    ),
    destination: {
      chainId: CHAIN,
      isDeliveryOver: (_op: Op, at: Block) => isOver && at.number === 10n,
      async readUndelivered(ops: readonly Op[], at: Block, faults: unknown[]) {
        if (world.refused) faults.push(world.refused)
        return new Set(isUndelivered && at.number === 10n ? ops.map(({ hash }) => hash) : [])
      },
    },
  }
  await confirmDeliveries(stub<ConfirmDeliveryDeps>(deps), lease, headsAt(seconds))
  return reported
}

test('the status of a swap whose delivery came too late says why it waits, and until when', async () => {
  const swap = await swapIn('delivering')
  await storeDelivery(swap, { block: 19n })
  await query('update chain_events set seen_at = 850')

  await look({ seconds: 860 })

  const waiting = { reason: 'lateDelivery', until: new Date(950_000).toISOString() }
  expect(await readStatuses(database.pool, [swap])).toMatchObject([{ substatus: 'delivering', waiting }])
})

// Finality takes 100 s and a repeated delivery 60 s: until second 839 both fit before second 1,000.
test.each<[string, Seen, World, boolean]>([
  ['at settle depth', { block: 19n }, {}, true],
  ['above settle depth', { block: 20n }, {}, false],
  ['of less than the signed minimum', { block: 19n, amount: 979n }, {}, false],
  ['of more than the signed minimum', { block: 19n, amount: 981n }, {}, true],
  ['that can just be repeated in time', { block: 19n }, { seconds: 839 }, true],
  ['that cannot be repeated in time', { block: 19n }, { seconds: 840 }, false],
  [
    'that could be repeated in time only if finality were as fast as configured',
    { block: 19n },
    { seconds: 839, finalitySeconds: 101 },
    false,
  ],
  [
    'that can be repeated in time although finality was measured as faster',
    { block: 19n },
    { seconds: 839, finalitySeconds: 10 },
    true,
  ],
  ['that is final, however late', { block: 10n }, { seconds: 2_000 }, true],
  ['that is nearly final, and late', { block: 11n }, { seconds: 2_000 }, false],
])('a delivery %s is reported, or not', async (_, seen, world, isReported) => {
  const swap = await swapIn('delivering')
  await storeDelivery(swap, seen)

  expect(await look(world)).toEqual(isReported ? [`settled ${swap.swapId}`] : [])
  expect(await stateOf(swap)).toBe(isReported ? 'settled' : 'delivering')
})

test('a report contains the delivery transaction and the amount', async () => {
  const swap = await swapIn('delivering')
  await storeDelivery(swap, { amount: 985n, block: 19n })

  await look()

  expect(await query('select delivery_tx_hash, delivered, delivered_block from swaps')).toEqual([
    { delivery_tx_hash: '0xpaid', delivered: '985', delivered_block: '19' },
  ])
})

test('a delivery that another worker reports first is not reported again', async () => {
  const swap = await swapIn('delivering')
  await storeDelivery(swap, { block: 19n })

  expect(await look({ movesMeanwhile: true })).toEqual([])
})

test('a delivery that a reorg undid and a block includes again is reported once', async () => {
  const swap = await swapIn('settled')
  await storeDelivery(swap, { block: 20n })

  expect(await look()).toEqual([])
  expect(await query('select state, delivered_block from swaps')).toEqual([
    { state: 'settled', delivered_block: '20' },
  ])
})

test.each<[string, Reached, World, string[], SwapState]>([
  [
    'is refunded once no delivery can follow',
    'delivering',
    { isOver: true },
    ['DELIVERY_EXPIRED'],
    'refundDecided',
  ],
  ['waits while a delivery can follow', 'delivering', { isOver: false }, [], 'delivering'],
  ['stays settled once reported', 'settled', { isOver: true }, [], 'settled'],
  [
    'waits for the log if the vault has paid it',
    'delivering',
    { isOver: true, isUndelivered: false },
    [],
    'delivering',
  ],
])('a swap without a delivery %s', async (_, state, world, reasons, end) => {
  const swap = await swapIn(state)

  expect(await look(world)).toEqual(reasons.map((reason) => `${reason} ${swap.swapId}`))
  expect(await stateOf(swap)).toBe(end)
})

test('a delivery that the vault shows without a log is scanned for again from the block of its quote', async () => {
  const page = { chainId: CHAIN, events: [], to: 30n, seconds: -1, gone: [] }
  await storePage(database.pool, page, async () => {})
  await swapIn('delivering')

  const refused = new Error('refused')
  await expect(look({ isOver: true, isUndelivered: false, refused })).rejects.toBe(refused)
  expect(await readCursor(database.pool, CHAIN)).toBe(30n)
  await look({ isOver: true, isUndelivered: false })

  expect(await readCursor(database.pool, CHAIN)).toBe(4n)
})

test('the vault is not read for a swap that was reported as settled', async () => {
  await swapIn('settled')

  expect(await look({ isOver: true, refused: new Error('asked') })).toEqual([])
})

test('a swap whose signed deliveries the log may have lost waits as if one were recorded', async () => {
  const [lost, kept] = [await swapIn('locked'), await swapIn('locked')]
  await query('update swaps set log_lost = true where id = $1', [lost.swapId])

  await look()

  expect([await stateOf(lost), await stateOf(kept)]).toEqual(['delivering', 'locked'])
})

type Vault = { missing?: readonly TestSwap[]; unread?: readonly TestSwap[] }

/** Finalizes the events, where the vault shows this at the final block. */
async function finalize({ missing = [], unread = [] }: Vault = {}) {
  const trap = new Error('unread')
  const hashesOf = async (swaps: readonly TestSwap[]) =>
    new Set((await Promise.all(swaps.map(find))).map(({ op }) => op.hash))
  const [gone, hidden] = [await hashesOf(missing), await hashesOf(unread)]
  const reads: number[] = []
  const destination = {
    chainId: CHAIN,
    async readUndelivered(ops: readonly Op[], at: Block, refused?: unknown[]) {
      reads.push(ops.length)
      const isHidden = ops.some(({ hash }) => hidden.has(hash))
      if (isHidden && !refused) throw trap
      if (isHidden) refused?.push(trap)
      return new Set(ops.filter(({ hash }) => gone.has(hash) && at.number === 10n).map(({ hash }) => hash))
    },
  }
  const faults: unknown[] = []
  const heads = headsAt(0)
  const events = await findFinalEvents(database.pool, { chainId: CHAIN, hard: 30n, limit: 100 })
  const deps = stub<ConfirmDeliveryDeps>({ pool: database.pool, destination })
  const contradicted = await finalizeDeliveries(deps, heads, events, faults)
  const left = await findFinalEvents(database.pool, { chainId: CHAIN, hard: 30n, limit: 100 })
  return { contradicted: contradicted.map(({ id }) => id), left: left.map(({ id }) => id), faults, reads }
}

const isFinal = async (swap: TestSwap) => (await find(swap)).deliveryFinal

test.each<[Reached, boolean]>([
  ['delivering', false],
  ['settled', true],
  ['claiming', true],
])('a final delivery of a swap that is %s is recorded: %s', async (state, isNoted) => {
  const swap = await swapIn(state)
  await storeDelivery(swap)
  const { op } = await find(swap)

  const { contradicted, left } = await finalize()

  expect(await isFinal(swap)).toBe(isNoted)
  expect([contradicted, left]).toEqual([[], isNoted ? [] : [op.deliveryHash]])
})

test('a delivery that the vault does not show at the final block is returned and not recorded', async () => {
  const [gone, paid] = [await swapIn('settled'), await swapIn('settled')]
  for (const swap of [gone, paid]) await storeDelivery(swap)
  const { op } = await find(gone)

  const { contradicted, left, reads } = await finalize({ missing: [gone] })

  expect(reads).toEqual([2])
  expect([await isFinal(gone), await isFinal(paid)]).toEqual([false, true])
  expect([contradicted, left]).toEqual([[op.deliveryHash], [op.deliveryHash]])
})

test('a delivery that cannot be read is reported and not recorded, and the others are recorded', async () => {
  const [hidden, paid] = [await swapIn('settled'), await swapIn('settled')]
  for (const swap of [hidden, paid]) await storeDelivery(swap)

  const { contradicted, faults } = await finalize({ unread: [hidden] })

  expect([await isFinal(hidden), await isFinal(paid)]).toEqual([false, true])
  expect([contradicted, faults]).toEqual([[], [new Error('unread')]])
})

test('the event of an ended or unknown swap is closed without reading the vault', async () => {
  const over = await swapIn('settled')
  await storeDelivery(over)
  await moveTestSwap(database.pool, over, 'claimRecorded')
  await moveTestSwap(database.pool, over, 'claimFinal')
  const asked = { missing: [over], unread: [over] }

  expect(await finalize(asked)).toEqual({ contradicted: [], left: [], faults: [], reads: [] })
  expect(await isFinal(over)).toBe(false)
})
