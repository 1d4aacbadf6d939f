import { beforeEach, expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { insertTestSwap, moveTestSwap } from '../../test/support/swaps.ts'
import { inTransaction } from './db.ts'
import { bookDelivery, markOriginFinal, markOriginSafe, readBooked } from './exposure.ts'
import { readExposure } from './figures.ts'

const CHAIN = 31_337
const VALUE = 601n

const database = useTestDatabase()
beforeEach(() => database.pool.query('truncate swaps, ops, exposure cascade'))

async function lockedSwap() {
  const { pool } = database
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))
  await moveTestSwap(pool, swap, 'lockRecorded')
  await pool.query('update ops set value_cents = $2 from swaps s where s.op_id = ops.id and s.id = $1', [
    swap.swapId,
    VALUE.toString(),
  ])
  return moveTestSwap(pool, swap, 'lockSeen', { originTxHash: '0xlock', lockedBlock: 1n })
}

/** Resolves once a query waits for a lock. */
async function untilLockAwaited(): Promise<void> {
  for (;;) {
    const { rows } = await database.pool.query(
      `select 1 from pg_stat_activity where wait_event_type = 'Lock'`,
    )
    if (rows.length > 0) return
  }
}

test('a lock that becomes final while the first exposure of its chain is booked frees that exposure', async () => {
  const swap = await lockedSwap()
  let marked: Promise<void> | undefined

  await inTransaction(database.pool, async (db) => {
    await bookDelivery(db, {
      chainId: CHAIN,
      swaps: [swap],
      caps: { exposedCents: 10_000n, unclaimedCents: 10_000n },
    })
    marked = markOriginFinal(database.pool, [swap])
    await untilLockAwaited()
  })
  await marked

  expect(await readExposure(database.pool)).toMatchObject([{ chainId: CHAIN, cents: 0n, lostCents: 0n }])
})

const exposed = async () => (await readBooked(database.pool)).get(CHAIN)?.exposedCents
const ample = { exposedCents: 10_000n, unclaimedCents: 10_000n }

test.each([
  ['up to both caps', { exposedCents: 2n * VALUE, unclaimedCents: 2n * VALUE }, true],
  ['above the cap of exposed value', { exposedCents: 2n * VALUE - 1n, unclaimedCents: 2n * VALUE }, false],
  ['above the cap of unclaimed value', { exposedCents: 2n * VALUE, unclaimedCents: 2n * VALUE - 1n }, false],
])('value %s is delivered, or not', async (_, caps, fits) => {
  const [first, second] = [await lockedSwap(), await lockedSwap()]
  expect(await bookDelivery(database.pool, { chainId: CHAIN, swaps: [first], caps })).toBe(true)

  expect(await bookDelivery(database.pool, { chainId: CHAIN, swaps: [second], caps })).toBe(fits)
})

test('the first delivery of a chain has to fit as well', async () => {
  const swap = await lockedSwap()
  const book = (change: object) =>
    bookDelivery(database.pool, { chainId: CHAIN, swaps: [swap], caps: { ...ample, ...change } })

  expect(await book({ exposedCents: VALUE - 1n })).toBe(false)
  // The caller rolls this back.
  await database.pool.query('update swaps set exposed_cents = 0, unclaimed_cents = 0')
  expect(await book({ unclaimedCents: VALUE - 1n })).toBe(false)
  expect(await readBooked(database.pool)).toEqual(new Map())
})

test('a booked delivery fits again, also below a lowered cap', async () => {
  const swap = await lockedSwap()
  await bookDelivery(database.pool, { chainId: CHAIN, swaps: [swap], caps: ample })

  const lowered = { exposedCents: 0n, unclaimedCents: 0n }
  expect(await bookDelivery(database.pool, { chainId: CHAIN, swaps: [swap], caps: lowered })).toBe(true)
  expect(await exposed()).toBe(VALUE)
})

test.each(['origin_final', 'origin_safe'])('a lock that is %s exposes nothing', async (column) => {
  const swap = await lockedSwap()
  await database.pool.query(`update swaps set ${column} = true`)

  await bookDelivery(database.pool, { chainId: CHAIN, swaps: [swap], caps: ample })

  expect((await readBooked(database.pool)).get(CHAIN)).toMatchObject({
    exposedCents: 0n,
    unclaimedCents: VALUE,
  })
})

test('a lock becomes final once, and frees the exposure of its own chain', async () => {
  const [swap, other] = [await lockedSwap(), await lockedSwap()]
  await bookDelivery(database.pool, { chainId: CHAIN, swaps: [swap, other], caps: ample })

  await markOriginFinal(database.pool, [swap])
  await markOriginFinal(database.pool, [swap])

  expect(await exposed()).toBe(VALUE)
})

// Blocks after 4 and up to 9 became safe.
test.each([
  ['in the first safe block', 'locked_block = 5', true],
  ['in the last safe block', 'locked_block = 9', true],
  ['that was safe before', 'locked_block = 4', false],
  ['above the safe block', 'locked_block = 10', false],
  ['of another origin', 'origin_chain = 5', false],
  ['that is final', 'origin_final = true', false],
  ['that is safe', 'origin_safe = true', false],
  ['that a reorg undid', `state = 'locking', version = version + 1`, false],
])('a lock %s frees its exposure when blocks become safe, or not', async (_, change, isFreed) => {
  const { pool } = database
  const swap = await lockedSwap()
  await bookDelivery(pool, { chainId: CHAIN, swaps: [swap], caps: ample })
  await pool.query(`update swaps set locked_block = 7`)
  await pool.query(`update swaps set ${change}`)
  await bookDelivery(pool, { chainId: 5, swaps: [await lockedSwap()], caps: ample })
  await pool.query(`update swaps set origin_chain = 5 where id <> $1`, [swap.id])

  await markOriginSafe(pool, { chainId: CHAIN, after: 4n, upTo: 9n })

  expect(await exposed()).toBe(isFreed ? 0n : VALUE)
  expect((await readBooked(pool)).get(5)?.exposedCents).toBe(VALUE)
})
