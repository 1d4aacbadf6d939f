import { beforeAll, expect, test } from 'vitest'
import { insertTestAttempt } from '../../test/support/attempts.ts'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { holdTestLane } from '../../test/support/lanes.ts'
import { insertTestSwap, lockTestSwap } from '../../test/support/swaps.ts'
import type { ChainView } from '../chains/view.ts'
import { announcedView, readAwaited, readChainViews, writeChainView } from './chain-views.ts'
import type { Db } from './db.ts'
import { type Lease, releaseLanes } from './lanes.ts'
import { createListener } from './listen.ts'
import { findSwaps } from './swaps.ts'

const CHAIN = 31_337

const database = useTestDatabase()
let lease: Lease
beforeAll(async () => {
  lease = await holdTestLane(database, `watch:${CHAIN}`)
})

function viewAt(number: bigint): ChainView {
  const block = { number, height: number, hash: `0x${number}`, seconds: 5, baseFeeWei: 7n }
  const heads = { head: block, accept: block, settle: block, hard: block }
  return { heads, measured: { blockMs: 250 }, agesMs: { head: 0 } }
}

const write = (number: bigint, by = lease) => writeChainView(database.pool, by, CHAIN, viewAt(number))
const read = (after = 0n) => readChainViews(database.pool, new Map([[CHAIN, after]]))

test('a view survives a round trip, with the fields that its adapter adds', async () => {
  const version = await write(10n)

  const [stored] = await read()
  expect(stored).toMatchObject({ chainId: CHAIN, view: viewAt(10n), version })
  expect(stored?.ageMs).toBeLessThan(60_000)
  expect(await readChainViews(database.pool, new Map([[5, 0n]]))).toEqual([])
})

test('the age of a view is by the clock of the database, and never negative', async () => {
  await write(10n)
  const ageAt = async (seconds: number) => {
    await database.pool.query(
      'update chain_views set updated_at = clock_timestamp() - make_interval(secs => $1)',
      [seconds],
    )
    return (await read())[0]?.ageMs
  }

  expect(await ageAt(100)).toBeGreaterThanOrEqual(100_000)
  expect(await ageAt(-100)).toBe(0)
})

test('known versions are not read again, and every write is a newer version', async () => {
  const first = (await write(11n)) ?? 0n
  expect(await read(first)).toEqual([])

  expect(await write(12n)).toBeGreaterThan(first)
  expect((await read(first)).map(({ view }) => view.heads.head.number)).toEqual([12n])
})

test('a process without the lane of the watcher writes nothing', async () => {
  await write(20n)

  expect(await write(99n, { ...lease, fence: String(BigInt(lease.fence) - 1n) })).toBeUndefined()
  expect(await write(99n, { ...lease, holder: '00000000-0000-0000-0000-000000000000' })).toBeUndefined()
  const other = await holdTestLane(database, 'watch:5')
  await releaseLanes(database.pool, [other])
  expect(await write(99n, other)).toBeUndefined()

  expect((await read())[0]?.view.heads.head.number).toBe(20n)
})

test('listeners are notified which chain has a new view, and its version', async () => {
  const heard = new Promise<string>((resolve) => {
    const listener = createListener({
      url: database.url,
      channels: { chain_view: (payload) => void listener.close().then(() => resolve(payload)) },
      onConnect: () => void write(21n),
      onFault: (error) => expect.unreachable(String(error)),
    })
  })
  expect(announcedView(await heard)).toEqual({ chainId: CHAIN, version: (await read())[0]?.version })
})

const areAwaited = async (db: Db) =>
  [...(await readAwaited(db, [31_337, 31_338])).values()].map(({ isAwaited }) => isAwaited)

test('a chain is awaited while a swap needs a lock or delivery on it, and not forever', async () => {
  const account = await insertTestAccount(database.pool)
  const awaited = () => areAwaited(database.pool)
  expect(await awaited()).toEqual([false, false])

  const swap = await insertTestSwap(database.pool, account)
  expect(await awaited()).toEqual([true, false])
  await lockTestSwap(database.pool, swap)
  expect(await awaited()).toEqual([false, true])

  await database.pool.query("update swaps set updated_at = now() - interval '61 seconds'")
  expect(await awaited()).toEqual([false, false])
})

test.each([
  ['awaitingDeposit', [true, false]],
  ['accepted', [true, false]],
  ['locking', [true, false]],
  ['locked', [false, true]],
  ['delivering', [false, true]],
  ['settled', [false, false]],
])('for a swap that is %s, its own chain is awaited', async (state, awaited) => {
  const { pool } = database
  await pool.query('truncate swaps cascade')
  await pool.query('alter table swaps disable trigger user')
  await insertTestSwap(pool, await insertTestAccount(pool))
  await pool.query('update swaps set state = $1', [state])

  expect(await areAwaited(pool)).toEqual(awaited)
})

const areOpen = async () =>
  [...(await readAwaited(database.pool, [31_337, 31_338])).values()].map(({ isOpen }) => isOpen)

test.each([
  ['awaitingDeposit', [true, false]],
  ['accepted', [true, false]],
  ['locking', [true, false]],
  ['locked', [true, true]],
  ['delivering', [true, true]],
  ['settled', [true, true]],
  ['claiming', [true, true]],
  ['refundDecided', [true, false]],
  ['refundBlocked', [true, false]],
  ['closed', [false, false]],
  ['failed', [false, false]],
])('a swap that is %s keeps its chains open, however long it waits', async (state, open) => {
  const { pool } = database
  await pool.query('truncate swaps cascade')
  await pool.query('alter table swaps disable trigger user')
  await insertTestSwap(pool, await insertTestAccount(pool))
  await pool.query("update swaps set state = $1, updated_at = now() - interval '1 day'", [state])

  expect(await areOpen()).toEqual(open)
})

test('a chain is open until each transaction of ours on it is final', async () => {
  const { pool } = database
  await pool.query('truncate swaps, tx_attempts cascade')
  await pool.query('alter table swaps disable trigger user')
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))
  await pool.query(`update swaps set state = 'locked'`)
  await insertTestAttempt(pool, swap, 'deliver', { chainId: 31_338 })
  await pool.query(`update swaps set state = 'closed'`)
  const before = await areOpen()
  await pool.query('update tx_attempts set final_at = now(), final_block = 7')

  expect([before, await areOpen()]).toEqual([
    [false, true],
    [false, false],
  ])
})

test('the feeds of every chain are awaited while a swap waits to be locked, and told since when', async () => {
  const { pool } = database
  await pool.query('truncate swaps cascade')
  const elsewhere = async () => (await readAwaited(pool, [5])).get(5)
  const before = await elsewhere()
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))
  const [accepted] = await findSwaps(pool, [swap.swapId])
  const waiting = await elsewhere()
  await pool.query("update swaps set updated_at = now() - interval '61 seconds'")
  const blocked = await elsewhere()
  await lockTestSwap(pool, swap)

  expect(before).toMatchObject({ isPricing: false, acceptedAt: undefined })
  expect(waiting).toMatchObject({ isAwaited: false, isPricing: true, acceptedAt: accepted?.changedAt })
  expect(waiting?.at).toBeGreaterThan(accepted?.changedAt ?? Number.POSITIVE_INFINITY)
  expect(blocked).toMatchObject({ isPricing: false, acceptedAt: expect.any(Number) })
  expect(await elsewhere()).toMatchObject({ isPricing: false, acceptedAt: undefined })
})

test.each(['consumed_block', 'final_block'])(
  'the feeds are awaited again while a lock without effect is to be sent again: %s',
  async (column) => {
    const { pool } = database
    await pool.query('truncate swaps, tx_attempts cascade')
    const swap = await insertTestSwap(pool, await insertTestAccount(pool))
    await insertTestAttempt(pool, swap, 'lock')
    await pool.query(`update swaps set state = 'locking'`)
    const sent = (await readAwaited(pool, [5])).get(5)
    await pool.query(`update tx_attempts set ${column} = 7`)
    const [locking] = await findSwaps(pool, [swap.swapId])

    expect(sent?.acceptedAt).toBeUndefined()
    expect((await readAwaited(pool, [5])).get(5)?.acceptedAt).toBe(locking?.changedAt)
  },
)

test('a key is stuck while swaps have waited a minute for its lock or delivery', async () => {
  const { pool } = database
  await pool.query('truncate swaps, tx_attempts cascade')
  const stuck = async () =>
    [...(await readAwaited(pool, [31_337, 31_338])).values()].map((each) => each.stuck)
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))
  await insertTestAttempt(pool, swap, 'lock', { sender: 'slow' })
  await pool.query(`update swaps set state = 'locking'`)
  const age = (seconds: number) =>
    pool.query('update tx_attempts set created_at = clock_timestamp() - make_interval(secs => $1)', [seconds])
  await age(55)
  const before = await stuck()
  await age(61)
  const after = await stuck()
  await pool.query(`update swaps set state = 'locked'`)

  expect(before).toEqual([[], []])
  expect(after).toEqual([['slow'], []])
  expect(await stuck()).toEqual([[], []])
})
