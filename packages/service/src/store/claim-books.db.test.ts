import fc from 'fast-check'
import { beforeEach, expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { insertTestSwap, lockTestSwap, moveTestSwap, type TestSwap } from '../../test/support/swaps.ts'
import { EMPTY_BOOK, withClaimed } from '../swap/exposure.ts'
import type { Swap } from '../swap/swap.ts'
import { bookClaims, readClaimBooks, recountClaims } from './claim-books.ts'
import { bookDelivery, findLostInputs, insertLostInput, readBooked, writeOffInput } from './exposure.ts'
import { findSwaps } from './swaps.ts'

const CHAIN = 31_337
const HOUR = 3_600
const VALUE = 601n
const caps = { exposedCents: 10_000n, unclaimedCents: 1_500n }

const database = useTestDatabase()
beforeEach(() => database.pool.query('truncate swaps, ops, claim_books, exposure, lost_inputs cascade'))

const capsOf = (swaps: readonly Swap[], cap: bigint | undefined) =>
  new Map(cap === undefined ? [] : swaps.map(({ op }) => [op.inputToken, cap]))
const book = async (swap: TestSwap, cap: bigint | undefined, seconds = 0) => {
  const swaps = await findSwaps(database.pool, [swap.swapId])
  return bookClaims(database.pool, { chainId: CHAIN, swaps, seconds, caps: capsOf(swaps, cap) })
}

/** A locked and booked swap of 1,000. */
async function lockedSwap(): Promise<TestSwap> {
  const { pool } = database
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))
  await pool.query('update ops set value_cents = $2 from swaps s where s.op_id = ops.id and s.id = $1', [
    swap.swapId,
    VALUE.toString(),
  ])
  await book(swap, undefined)
  await lockTestSwap(pool, swap)
  return swap
}

async function deliver(swap: TestSwap): Promise<boolean> {
  const { pool } = database
  const swaps = await findSwaps(pool, [swap.swapId])
  if (!(await bookDelivery(pool, { chainId: CHAIN, swaps, caps }))) return false
  await moveTestSwap(pool, swap, 'deliveryRecorded', { deliveryTxHash: '0xdelivery' })
  return true
}

async function settledSwap(): Promise<TestSwap> {
  const swap = await lockedSwap()
  await deliver(swap)
  await moveTestSwap(database.pool, swap, 'deliverySeen', { deliveryTxHash: '0xdelivery', delivered: 990n })
  return swap
}

const openOf = async (of = CHAIN) =>
  (await readClaimBooks(database.pool)).find(({ chainId }) => chainId === of)?.open
const unclaimed = async () => (await readBooked(database.pool)).get(CHAIN)?.unclaimedCents

test('claims are booked as in the model, in whichever hours they were made', async () => {
  const { pool } = database
  const hours =
    fc.sample(fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 8, maxLength: 8 }), 1)[0] ?? []
  const swaps: TestSwap[] = []
  for (const _ of hours) swaps.push(await lockedSwap())
  await pool.query('update swaps set unclaimed_cents = 0')
  let expected = { ...EMPTY_BOOK, open: BigInt(hours.length) * 1_000n }

  for (const [index, hour] of hours.entries()) {
    const swap = swaps[index] as TestSwap
    await moveTestSwap(pool, swap, 'deliveryRecorded', { deliveryTxHash: '0xdelivery' })
    await moveTestSwap(pool, swap, 'deliverySeen', { deliveryTxHash: '0xdelivery', delivered: 990n })
    await moveTestSwap(pool, swap, 'claimFinal', { claimedBySeconds: hour * HOUR + 1 })
    expected = withClaimed(expected, 1_000n, hour * HOUR + 1)

    expect(await readClaimBooks(pool), hours.join()).toEqual([
      { chainId: CHAIN, token: 'input', ...expected },
    ])
  }
})

test('a failed or refunded swap is no longer booked, and takes nothing of the hour', async () => {
  const { pool } = database
  const [failed, sentBack] = [await lockedSwap(), await lockedSwap()]
  await moveTestSwap(pool, failed, 'lockLost')
  await moveTestSwap(pool, failed, 'lockDead', { failureCode: 'OPERATION_EXPIRED', proof: {} })
  expect(await openOf()).toBe(1_000n)
  await deliver(sentBack)

  await moveTestSwap(pool, sentBack, 'deliveryImpossible', { refundReason: 'DELIVERY_EXPIRED', proof: {} })
  await moveTestSwap(pool, sentBack, 'refundFinal', { refundTxHash: '0xrefund' })

  expect(await readClaimBooks(pool)).toMatchObject([{ open: 0n, claimed: 0n }])
  expect(await unclaimed()).toBe(0n)
})

test('a delivery counts until its input is finally claimed, and none is recorded beyond the cap', async () => {
  const { pool } = database
  const [first, , third] = [await settledSwap(), await settledSwap(), await lockedSwap()]
  expect(await unclaimed()).toBe(2n * VALUE)
  expect(await deliver(third)).toBe(false)

  await moveTestSwap(pool, first, 'claimFinal', { claimedBySeconds: 0 })
  // The rollback of the refused delivery undoes its bookings.
  await pool.query('update swaps set unclaimed_cents = 0, exposed_cents = 0 where id = $1', [third.swapId])

  expect(await deliver(third)).toBe(true)
  expect(await unclaimed()).toBe(2n * VALUE)
})

test('a delivery that is signed again counts once', async () => {
  const swap = await lockedSwap()

  expect([await deliver(swap), await deliver(swap)]).toEqual([true, true])
  expect(await unclaimed()).toBe(VALUE)
})

test('a lost input counts as unclaimed until it is written off, and takes no claim room', async () => {
  const { pool } = database
  const lost = await settledSwap()
  const moved = await moveTestSwap(pool, lost, 'inputLost', { proof: {} })
  await insertLostInput(pool, moved)

  expect([await openOf(), await unclaimed()]).toEqual([0n, VALUE])
  expect(await findLostInputs(pool)).toHaveLength(1)
  await writeOffInput(pool, { swapId: lost.swapId, note: 'why' })
  expect(await unclaimed()).toBe(0n)
})

test('a restore books everything that may have to be claimed, and claims of the current hour', async () => {
  const { pool } = database
  await settledSwap()
  await lockedSwap()
  await pool.query('update swaps set claim_booked = false, unclaimed_cents = 0')
  await pool.query('delete from claim_books')
  await pool.query('delete from exposure')

  await recountClaims(pool, [{ chainId: CHAIN, token: 'input', amount: 300n, seconds: 7 * HOUR }])

  expect(await readClaimBooks(pool)).toMatchObject([{ open: 2_000n, claimed: 300n, hour: 7 }])
  expect(await unclaimed()).toBe(VALUE)
  expect((await pool.query('select 1 from swaps where claim_booked')).rowCount).toBe(2)
})

/** Books the inputs of new swaps, 1,000 each of this token. */
async function bookNew(token: string, { chainId = CHAIN, cap = 5_000n, seconds = 0, count = 1 } = {}) {
  const { pool } = database
  const ids: string[] = []
  for (let index = 0; index < count; index += 1)
    ids.push((await insertTestSwap(pool, await insertTestAccount(pool))).swapId)
  await pool.query('update swaps set input_token = $2 where id = any($1)', [ids, token])
  const swaps = await findSwaps(pool, ids)
  const caps = new Map([
    [token, cap],
    ['another', 0n],
  ])
  return bookClaims(pool, { chainId, swaps, seconds, caps })
}

test('a cap is that of one token on one chain, and its last unit fits', async () => {
  expect(await bookNew('a', { cap: 999n })).toBe(false)
  expect(await bookNew('a', { cap: 1_000n })).toBe(true)
  expect(await bookNew('b', { cap: 2_000n, count: 2 })).toBe(true)
  expect(await bookNew('a', { chainId: 5, cap: 1_000n })).toBe(true)
  expect(await bookNew('a', { cap: 1_999n })).toBe(false)
  expect(await bookNew('a', { cap: 2_000n })).toBe(true)

  const open = (await readClaimBooks(database.pool)).map(({ chainId, token, open }) => [chainId, token, open])
  expect(open.sort()).toEqual([
    [CHAIN, 'a', 2_000n],
    [CHAIN, 'b', 2_000n],
    [5, 'a', 1_000n],
  ])
})

test('claims of this hour take room, and those of an earlier hour do not', async () => {
  await database.pool.query(
    `insert into claim_books (chain_id, token, open, claimed, hour)
     values ($1, 'a', 0, 1000, 1), ($1, 'b', 0, 1000, 1)`,
    [CHAIN],
  )

  expect(await bookNew('a', { cap: 1_999n, seconds: HOUR })).toBe(false)
  expect(await bookNew('b', { cap: 1_999n, seconds: 2 * HOUR })).toBe(true)
})

test('the books of several tokens are locked in one order, so that no two bookings wait for each other', async () => {
  const { pool } = database
  const account = await insertTestAccount(pool)
  const ids: string[] = []
  for (const token of ['b', 'c', 'a']) {
    const { swapId } = await insertTestSwap(pool, account)
    await pool.query('update swaps set input_token = $2 where id = $1', [swapId, token])
    ids.push(swapId)
  }

  const swaps = await findSwaps(pool, ids)
  expect(await bookClaims(pool, { chainId: CHAIN, swaps, seconds: 0, caps: capsOf(swaps, 1_000n) })).toBe(
    true,
  )
  const { rows } = await pool.query('select token from claim_books order by ctid')
  expect(rows.map(({ token }) => token)).toEqual(['a', 'b', 'c'])
})

test('an input is booked once', async () => {
  const { pool } = database
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))

  expect([await book(swap, 1_000n), await book(swap, 1_000n)]).toEqual([true, true])
  expect(await openOf()).toBe(1_000n)
})

test('a restore keeps later claims of the chain, and the larger sum of an hour', async () => {
  const { pool } = database
  const recount = (amount: bigint, hour: number) =>
    recountClaims(pool, [{ chainId: CHAIN, token: 'input', amount, seconds: hour * HOUR }])
  const claimed = async () => {
    const [book] = await readClaimBooks(pool)
    return [book?.hour, book?.claimed]
  }

  await recount(300n, 7)
  await recount(200n, 7)
  expect(await claimed()).toEqual([7, 300n])
  await recount(400n, 6)
  expect(await claimed()).toEqual([7, 400n])
  await recount(100n, 8)
  expect(await claimed()).toEqual([8, 100n])
})

test('a restore counts a lost log as delivered, a written off input not, and each chain for itself', async () => {
  const { pool } = database
  const lose = async () => {
    const swap = await settledSwap()
    await insertLostInput(pool, await moveTestSwap(pool, swap, 'inputLost', { proof: {} }))
    return swap
  }
  await writeOffInput(pool, { swapId: (await lose()).swapId, note: 'why' })
  await pool.query('update lost_inputs set cents = 5')
  await lose()
  const [lost, locking, known] = [await lockedSwap(), await lockedSwap(), await lockedSwap()]
  await moveTestSwap(pool, locking, 'lockLost')
  await pool.query('update swaps set log_lost = true where id = any($1)', [[lost.swapId, locking.swapId]])
  const unbooked = [lost, locking, known].map(({ swapId }) => swapId)
  await pool.query('update swaps set unclaimed_cents = 0 where id = any($1)', [unbooked])
  await pool.query('update ops set value_cents = 100 from swaps s where s.op_id = ops.id and s.id = $1', [
    locking.swapId,
  ])
  // Booked before its value was raised.
  const paid = await settledSwap()
  await pool.query('update swaps set unclaimed_cents = 7 where id = $1', [paid.swapId])
  await pool.query('insert into exposure (chain_id, unclaimed_cents) values (5, 7)')
  await pool.query(`insert into claim_books (chain_id, token, open) values (5, 'input', 7)`)

  await recountClaims(pool, [])

  expect(await unclaimed()).toBe(2n * VALUE + 100n + 7n)
  expect((await readBooked(pool)).get(5)?.unclaimedCents).toBe(0n)
  expect([await openOf(), await openOf(5)]).toEqual([4_000n, 0n])
})
