import { copyFile, mkdtemp, readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { StatusReply } from '@geoswap/wire'
import { beforeAll, describe, expect, test } from 'vitest'
import { insertTestAccount, startTestDatabase, useTestDatabase } from '../../test/support/database.ts'
import {
  insertEndedSwaps,
  insertOlderTestOp,
  insertTestSwap,
  moveTestSwap,
  settleTestSwap,
  statusOfTestSwap,
  type TestSwap,
} from '../../test/support/swaps.ts'
import { publicStatus, type SwapState, transitions } from '../swap/lifecycle.ts'
import { inTransaction } from './db.ts'
import { findMoved, readEvents } from './events.ts'
import { markOriginFinal } from './exposure.ts'
import { readHistory } from './history.ts'
import { declareLanes, type Lease, takeLanes } from './lanes.ts'
import { migrate } from './migrate.ts'
import { markDeliveriesFinal, setDeliveryTxHash } from './swaps.ts'
import { placeEvents } from './webhook-deliveries.ts'

const database = useTestDatabase()
let accountId: string
beforeAll(async () => {
  accountId = await insertTestAccount(database.pool)
})

const insert = () => insertTestSwap(database.pool, accountId)

async function eventsOf(swap: TestSwap, after = 0) {
  const [found] = await readEvents(database.pool, [{ ...swap, after }])
  return found
}

type Step = (swap: TestSwap) => Promise<unknown>
const move =
  (
    ...[event, change]: Parameters<typeof moveTestSwap> extends [unknown, unknown, ...infer Rest]
      ? Rest
      : never
  ): Step =>
  (swap) =>
    moveTestSwap(database.pool, swap, event, change)

/** The status replies after each step, the first included. */
async function statusesAfter(swap: TestSwap, steps: readonly Step[]): Promise<StatusReply[]> {
  const seen = [await statusOfTestSwap(database.pool, swap)]
  for (const step of steps) {
    await step(swap)
    seen.push(await statusOfTestSwap(database.pool, swap))
  }
  return seen
}

describe('the log', () => {
  const proof = { kind: 'test' }
  const lives: Record<string, Step[]> = {
    'a swap that settles': [
      move('lockRecorded'),
      move('lockSeen', { originTxHash: '0x1', lockedBlock: 5n }),
      move('deliveryRecorded', { deliveryTxHash: '0x2' }),
      move('deliverySeen', { deliveryTxHash: '0x2', delivered: 990n }),
    ],
    'a swap whose lock a reorg undoes and whose delivery is sent twice': [
      move('lockRecorded'),
      move('lockSeen', { originTxHash: '0x1' }),
      move('lockLost'),
      move('lockSeen', { originTxHash: '0x1b' }),
      move('deliveryRecorded', { deliveryTxHash: '0x2' }),
      move('deliveryRecorded', { deliveryTxHash: '0x3' }),
    ],
    'a settled swap whose delivery a reorg moves to another transaction, twice': [
      (swap) => settleTestSwap(database.pool, swap).then(() => {}),
      ({ swapId }) => setDeliveryTxHash(database.pool, [{ id: swapId }], '0x4'),
      ({ swapId }) => markDeliveriesFinal(database.pool, [{ id: swapId, deliveryTxHash: '0x5' }]),
    ],
    'a swap that fails': [move('declined', { failureCode: 'PRICE_MOVED', proof })],
    'a swap that is refunded': [
      move('lockRecorded'),
      move('lockSeen', { originTxHash: '0x1' }),
      move('deliveryImpossible', { refundReason: 'NO_LIQUIDITY', proof }),
      move('refundRefused'),
      move('refundFinal', { refundReason: 'NO_LIQUIDITY', refundTxHash: '0x6', credited: true }),
    ],
  }

  test.each(Object.entries(lives))(
    'of %s equals the status replies after each change',
    async (_name, steps) => {
      const swap = await insert()

      const seen = await statusesAfter(swap, steps)

      const found = await eventsOf(swap)
      const told = found?.events.map(({ status }) => status) ?? []
      expect(told.at(-1)).toEqual(seen.at(-1))
      expect(told).toEqual(expect.arrayContaining(seen))
      expect(found?.events.map(({ seq }) => seq)).toEqual(told.map((_, index) => index + 1))
      expect(new Set(told.map((status) => JSON.stringify(status))).size).toBe(told.length)
    },
  )

  test('has no entry for internal changes', async () => {
    const swap = await insert()
    await settleTestSwap(database.pool, swap)
    const before = await eventsOf(swap)

    await moveTestSwap(database.pool, swap, 'claimRecorded')
    await markOriginFinal(database.pool, [await moveTestSwap(database.pool, swap, 'claimRecorded')])
    await moveTestSwap(database.pool, swap, 'claimFinal')

    expect(before?.events).toHaveLength(5)
    expect(await eventsOf(swap)).toEqual(before)
  })

  test('has no entry for a change that was rolled back', async () => {
    const swap = await insert()

    const undone = inTransaction(database.pool, async (db) => {
      await moveTestSwap(db, swap, 'lockRecorded')
      throw new Error('undone')
    })

    await expect(undone).rejects.toThrow('undone')
    expect((await eventsOf(swap))?.events).toHaveLength(1)
  })

  test('is read from after an event, and only by its owner', async () => {
    const swap = await insert()
    await settleTestSwap(database.pool, swap)
    const stranger = await insertTestAccount(database.pool)

    expect((await eventsOf(swap, 3))?.events.map(({ seq }) => seq)).toEqual([4, 5])
    expect(await eventsOf({ ...swap, accountId: stranger })).toBeUndefined()
    expect(await eventsOf({ ...swap, swapId: 'swp_none' })).toBeUndefined()
  })

  test('always includes the end of an ended swap, and never repeats events of an open one', async () => {
    const [ended, open] = [await insert(), await insert()]
    await settleTestSwap(database.pool, ended)

    expect(await eventsOf(ended, 5)).toMatchObject({ lastSeq: 5, ended: true, events: [{ seq: 5 }] })
    expect(await eventsOf(ended, 9)).toMatchObject({ lastSeq: 5, ended: true, events: [{ seq: 5 }] })
    expect(await eventsOf(open, 1)).toEqual({ lastSeq: 1, ended: false, events: [] })
  })

  test('finds the swaps that have moved', async () => {
    const [moved, still] = [await insert(), await insert()]
    await moveTestSwap(database.pool, moved, 'lockRecorded')

    const known = [moved, still].map(({ swapId }) => ({ swapId, seq: 1 }))

    expect(await findMoved(database.pool, known)).toEqual([moved.swapId])
  })
})

describe('positions', () => {
  let lease: Lease
  beforeAll(async () => {
    await declareLanes(database.pool, ['webhooks'])
    const want = { names: ['webhooks'], holder: crypto.randomUUID(), ttlMs: 60_000, limit: 1 }
    const [taken] = await takeLanes(database.pool, want)
    if (!taken) throw new Error('The lane is not free')
    lease = taken
  })

  async function place(): Promise<void> {
    while ((await placeEvents(database.pool, { lease, limit: 7 })) > 0) {}
  }
  async function readAfter(position: number) {
    const { rows } = await database.pool.query<{ position: string; swap_id: string; seq: number }>(
      'select position, swap_id, seq from swap_events where position > $1 order by position',
      [position],
    )
    return rows.map((row) => ({ ...row, position: Number(row.position) }))
  }

  test('of an event that is committed late are above all that a reader has seen', async () => {
    const [late, early] = [await insert(), await insert()]
    await place()
    const start = (await readAfter(0)).at(-1)?.position ?? 0

    const db = await database.pool.connect()
    await db.query('begin')
    await moveTestSwap(db, late, 'lockRecorded')
    await moveTestSwap(database.pool, early, 'lockRecorded')
    await place()
    const seen = await readAfter(start)
    await db.query('commit')
    db.release()
    await place()

    expect(seen.map(({ swap_id }) => swap_id)).toEqual([early.swapId])
    const later = await readAfter(seen.at(-1)?.position ?? 0)
    expect(later.map(({ swap_id }) => swap_id)).toEqual([late.swapId])
  })

  test('keep the order of each swap', async () => {
    const swap = await insert()
    await settleTestSwap(database.pool, swap)
    await place()

    const seqs = (await readAfter(0)).filter(({ swap_id }) => swap_id === swap.swapId).map(({ seq }) => seq)

    expect(seqs).toEqual([1, 2, 3, 4, 5])
  })

  test('of two swaps that moved at the same moment differ', async () => {
    const swaps = [await insert(), await insert()]
    await database.pool.query('update swap_events set at = now() where swap_id = any($1)', [
      swaps.map(({ swapId }) => swapId),
    ])

    await place()

    const placed = (await readAfter(0)).slice(-2)
    expect(placed.map(({ swap_id }) => swap_id)).toEqual(swaps.map(({ swapId }) => swapId))
    expect(new Set(placed.map(({ position }) => position)).size).toBe(2)
  })

  test('are assigned by the holder of the lease alone', async () => {
    await insert()

    const stale = { ...lease, fence: String(Number(lease.fence) - 1) }

    expect(await placeEvents(database.pool, { lease: stale, limit: 10 })).toBe(0)
    expect(await placeEvents(database.pool, { lease, limit: 10 })).toBe(1)
  })
})

test('database and state table agree on the status of every state', async () => {
  const states = Object.keys(transitions) as SwapState[]

  const { rows } = await database.pool.query<{ state: SwapState; status: string }>(
    'select state, swap_status(state) as status from unnest($1::text[]) as state',
    [states],
  )

  expect(rows).toEqual(states.map((state) => ({ state, status: publicStatus(state) })))
})

test('a swap from before the log has events from its known state on', async () => {
  const { pool, stop } = await startTestDatabase({ migrated: false })
  const all = new URL('./migrations/', import.meta.url)
  const before = await mkdtemp(join(tmpdir(), 'geoswap-migrations-'))
  for (const name of (await readdir(all)).filter((file) => file < '0005')) {
    await copyFile(new URL(name, all), join(before, name))
  }
  await migrate(pool, pathToFileURL(`${before}/`))
  const owner = await insertTestAccount(pool)
  const swap = { swapId: 'swp_old', accountId: owner }
  await pool.query(
    `insert into swaps (id, op_id, quote_id, account_id, origin_chain, destination_chain, wallet, input_token,
                        input_amount, locker, signature)
     select $2, id, quote_id, account_id, origin_chain, destination_chain, wallet, input_token, input_amount, locker,
            '0x' from ops where id = $1`,
    [await insertOlderTestOp(pool, owner), swap.swapId],
  )

  await migrate(pool)
  const known = await statusOfTestSwap(pool, swap)
  await moveTestSwap(pool, swap, 'lockRecorded')
  await moveTestSwap(pool, swap, 'lockSeen', { originTxHash: '0x1' })

  const [found] = await readEvents(pool, [{ ...swap, after: 0 }])
  expect(found?.events.map(({ seq, status }) => [seq, status])).toEqual([
    [1, known],
    [2, expect.objectContaining({ substatus: 'locking' })],
    [3, await statusOfTestSwap(pool, swap)],
  ])
  const filter = { accountId: owner, limit: 10, status: 'pending' as const }
  expect((await readHistory(pool, filter)).map(({ swapId }) => swapId)).toEqual([swap.swapId])
  await stop()
})

describe('the history of an account', () => {
  const swaps: TestSwap[] = []
  let owner: string
  beforeAll(async () => {
    const { pool } = database
    owner = await insertTestAccount(pool)
    for (const wallet of ['a', 'b', 'a']) swaps.push(await insertTestSwap(pool, owner, wallet))
    await pool.query('update swaps set origin_chain = 5 where id = $1', [swaps[0]?.swapId])
    await settleTestSwap(pool, swaps[2] as TestSwap)
  })

  type Filter = Partial<Parameters<typeof readHistory>[1]>
  const read = (filter: Filter) => readHistory(database.pool, { accountId: owner, limit: 200, ...filter })
  /** The numbers of the swaps. */
  const find = async (filter: Filter) =>
    (await read(filter)).map((found) => swaps.findIndex(({ swapId }) => swapId === found.swapId))

  test.each<[string, Filter, number[]]>([
    ['newest first', {}, [2, 1, 0]],
    ['up to a limit', { limit: 2 }, [2, 1]],
    ['of a wallet', { wallet: 'a' }, [2, 0]],
    ['of a status', { status: 'settled' }, [2]],
    ['of a chain', { chainId: 5 }, [0]],
  ])('has its swaps %s', async (_, filter, found) => {
    expect(await find(filter)).toEqual(found)
  })

  test('has the swaps below a cursor, and those from a time and before another', async () => {
    const cursor = (await read({}))[1]?.cursor ?? expect.unreachable('There are three')

    expect(await find({ below: cursor })).toEqual([0])
    expect(await find({ from: cursor.createdAt })).toEqual([2, 1])
    expect(await find({ to: cursor.createdAt })).toEqual([0])
  })

  test('has as many swaps as its limit allows', async () => {
    const many = await insertTestAccount(database.pool)
    await insertEndedSwaps(
      database.pool,
      many,
      Array.from({ length: 22 }, () => 'wallet'),
    )

    expect(await read({ accountId: many, limit: 30 })).toHaveLength(22)
  })
})
