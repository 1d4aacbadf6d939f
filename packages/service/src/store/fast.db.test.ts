import { beforeEach, describe, expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import {
  insertTestSwap,
  lockTestSwap,
  moveTestSwap,
  statusOfTestSwap,
  type TestSwap,
} from '../../test/support/swaps.ts'
import { fastPayment } from '../swap/pricing.ts'
import type { Swap } from '../swap/swap.ts'
import { inTransaction } from './db.ts'
import {
  bookDelivery,
  insertLostInput,
  markOriginFinal,
  markOriginSafe,
  readBooked,
  writeOffInput,
} from './exposure.ts'
import { readInventory } from './inventory.ts'
import { reserveInventory } from './submissions.ts'
import { payFast } from './swap-moves.ts'
import { findSwaps, setWaiting } from './swaps.ts'

const CHAIN = 31_337
const VALUE = 100n
const WAITING = { reason: 'finality', until: '2026-01-01T00:00:00.000Z' } as const

const database = useTestDatabase()
beforeEach(async () => {
  await database.pool.query('truncate swaps, ops, exposure, inventory cascade')
  await database.pool.query(
    `insert into inventory (chain_id, token, held, reserved, at_block) values (31338, 'output', 50000, 0, 1)`,
  )
})

class Undone extends Error {}

/** A locked swap that was quoted as fast: 985 instead of 990. */
async function fastSwap({ fastOutput = 985n } = {}): Promise<TestSwap> {
  const { pool } = database
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))
  await pool.query(
    `update ops set value_cents = $2, fast_output = $3, risk_premium = 5 from swaps s
      where s.op_id = ops.id and s.id = $1`,
    [swap.swapId, VALUE.toString(), fastOutput.toString()],
  )
  const [accepted] = await findSwaps(pool, [swap.swapId])
  await reserveInventory(pool, accepted?.op.id ?? '')
  await lockTestSwap(pool, swap)
  return swap
}

async function read({ swapId }: TestSwap): Promise<Swap> {
  const [swap] = await findSwaps(database.pool, [swapId])
  if (!swap) throw new Error('Swap not found')
  return swap
}

const caps = { exposedCents: 200n, fastCents: 500n, unclaimedCents: 10_000n }

/** Records the delivery of a swap as a worker does, and undoes all of it if a cap has no room. */
function pay(swap: Swap, { isFast = true } = {}): Promise<boolean> {
  const record = inTransaction(database.pool, async (db) => {
    const lowered = isFast ? fastPayment(swap.op) : undefined
    const isPaid = await payFast(db, [{ ...swap, lowered }])
    const isBooked = isPaid && (await bookDelivery(db, { chainId: CHAIN, swaps: [swap], caps }))
    if (!isBooked) throw new Undone()
    return true
  })
  return record.catch((error: unknown) => {
    if (error instanceof Undone) return false
    throw error
  })
}

const booked = async () => (await readBooked(database.pool)).get(CHAIN)
const reserved = async () => (await readInventory(database.pool))[0]?.reserved
const countPaid = async (tries: Promise<boolean>[]) => (await Promise.all(tries)).filter(Boolean).length

describe('of concurrent deliveries', () => {
  test('fast ones are paid up to their part of the cap', async () => {
    const swaps = await Promise.all(Array.from({ length: 8 }, async () => read(await fastSwap())))

    expect(await countPaid(swaps.map((swap) => pay(swap)))).toBe(3)
    expect(await booked()).toEqual({ exposedCents: 300n, fastCents: 300n, unclaimedCents: 300n })
  })

  test('of both kinds all together stay within the larger cap, and neither takes the room of the other', async () => {
    const fast = await Promise.all(Array.from({ length: 5 }, async () => read(await fastSwap())))
    const usual = await Promise.all(
      Array.from({ length: 5 }, async () => read(await fastSwap({ fastOutput: 0n }))),
    )

    const tries = fast.flatMap((swap, at) => {
      const other = usual[at]
      return [pay(swap), ...(other ? [pay(other, { isFast: false })] : [])]
    })

    expect(await countPaid(tries)).toBe(5)
    expect(await booked()).toMatchObject({ exposedCents: 500n, fastCents: 300n })
  })

  test('a loss beyond the first cap leaves less for fast ones', async () => {
    await database.pool.query('insert into exposure (chain_id, cents) values ($1, 450)', [CHAIN])

    expect(await pay(await read(await fastSwap()))).toBe(false)
    expect(await booked()).toMatchObject({ exposedCents: 450n, fastCents: 0n })
  })
})

test('a swap that is paid fast is paid and reserves less', async () => {
  const made = await fastSwap()
  expect(await reserved()).toBe(990n)

  expect(await pay(await read(made))).toBe(true)

  expect(await read(made)).toMatchObject({ isPaidFast: true, op: { quotedOutput: 985n, payAmount: 985n } })
  expect(await reserved()).toBe(985n)
})

test('without room nothing of the swap changes', async () => {
  const made = await fastSwap()
  await database.pool.query('insert into exposure (chain_id, cents, fast_cents) values ($1, 300, 300)', [
    CHAIN,
  ])

  expect(await pay(await read(made))).toBe(false)
  expect(await read(made)).toMatchObject({ isPaidFast: false, op: { quotedOutput: 990n, payAmount: 990n } })
  expect(await reserved()).toBe(990n)
})

test.each([
  ['became final', 'origin_final = true'],
  ['became safe', 'origin_safe = true'],
  ['was told to wait', `waiting = '{"reason": "finality"}'`],
])('a swap that %s since it was read pays no premium', async (_, change) => {
  const made = await fastSwap()
  const before = await read(made)
  await database.pool.query(`update swaps set ${change}`)

  expect(await pay(before)).toBe(false)
})

test.each<[string, (swap: Swap) => Promise<unknown>]>([
  ['final', (swap) => markOriginFinal(database.pool, [swap])],
  ['safe', () => markOriginSafe(database.pool, { chainId: CHAIN, after: 0n, upTo: 5n })],
])('the room of a fast swap is free when its lock is %s', async (_, mark) => {
  const [made, other] = [await fastSwap(), await fastSwap()]
  for (const each of [made, other]) await pay(await read(each))
  await database.pool.query('update swaps set locked_block = 9 where id = $1', [other.swapId])

  await mark(await read(made))
  await mark(await read(made))

  expect(await booked()).toMatchObject({ exposedCents: 100n, fastCents: 100n })
})

test('the room of a fast swap is free when its lock was undone and nothing can follow', async () => {
  const made = await fastSwap()
  await pay(await read(made))
  await moveTestSwap(database.pool, made, 'deliveryRecorded')

  await moveTestSwap(database.pool, made, 'lockDead', { failureCode: 'OPERATION_EXPIRED', proof: {} })

  expect(await booked()).toMatchObject({ exposedCents: 0n, fastCents: 0n })
})

test('a lost input keeps the room of a fast swap until it is written off', async () => {
  const made = await fastSwap()
  await pay(await read(made))
  await insertLostInput(database.pool, await read(made))
  expect(await booked()).toMatchObject({ exposedCents: 100n, fastCents: 100n })

  await writeOffInput(database.pool, { swapId: made.swapId, note: 'a reorg' })

  expect(await booked()).toMatchObject({ exposedCents: 0n, fastCents: 0n })
})

describe('the database refuses', () => {
  const set = ({ swapId }: TestSwap, change: string) =>
    database.pool.query(`update swaps set ${change} where id = $1`, [swapId])
  const paid = 'is_paid_fast = true, lowered_output = 985, lowered_pay = 985'

  test('to pay a premium twice, to take it back, or to lower the output again', async () => {
    const made = await fastSwap()
    await set(made, paid)

    await expect(set(made, 'is_paid_fast = false')).rejects.toThrow('not paid for a premium')
    await expect(set(made, 'lowered_output = 984, lowered_pay = 984')).rejects.toThrow('is fixed')
  })

  test('to pay a premium for a swap that was quoted without, or whose lock is final', async () => {
    const [usual, final] = [await fastSwap({ fastOutput: 0n }), await fastSwap()]
    await set(final, 'origin_final = true')

    for (const made of [usual, final]) await expect(set(made, paid)).rejects.toThrow('not paid for a premium')
  })

  test('to pay less than was signed', async () => {
    const low = 'is_paid_fast = true, lowered_output = 979, lowered_pay = 979'

    await expect(set(await fastSwap(), low)).rejects.toThrow('cannot be paid 979')
  })
})

describe('a status', () => {
  const amounts = { input: '1000', quotedOutput: '985', minOutput: '980' }

  test('of a swap quoted as fast names its premium', async () => {
    expect(await statusOfTestSwap(database.pool, await fastSwap())).toMatchObject({
      speed: 'fast',
      amounts: { ...amounts, riskPremium: { amount: '5', returned: false } },
    })
  })

  test('of one that finds no room says that it waits and gets the premium back', async () => {
    const made = await fastSwap()
    await setWaiting(database.pool, await read(made), WAITING)

    const waiting = await statusOfTestSwap(database.pool, made)
    await moveTestSwap(database.pool, made, 'deliveryRecorded', { deliveryTxHash: '0xdelivery' })
    await moveTestSwap(database.pool, made, 'deliverySeen', { deliveryTxHash: '0xdelivery', delivered: 990n })
    const settled = await statusOfTestSwap(database.pool, made)

    expect(waiting).toMatchObject({
      ...{ speed: 'final', waiting: WAITING },
      amounts: { ...amounts, riskPremium: { amount: '5', returned: true, output: '990' } },
    })
    expect(settled.waiting).toBeUndefined()
    expect(settled).toMatchObject({ status: 'settled', speed: 'final' })
    expect(settled.amounts).toEqual({
      ...{ ...amounts, delivered: '990' },
      riskPremium: { amount: '5', returned: true, output: '990' },
    })
  })

  test('of one that was paid fast does not call its output repriced', async () => {
    const made = await fastSwap()
    await pay(await read(made))
    await moveTestSwap(database.pool, { ...made }, 'deliveryRecorded', { deliveryTxHash: '0xdelivery' })

    const { speed, amounts: told } = await statusOfTestSwap(database.pool, made)

    expect([speed, told]).toEqual(['fast', { ...amounts, riskPremium: { amount: '5', returned: false } }])
  })

  test('of a fast one whose market moved names what is left of the fast output', async () => {
    const { pool } = database
    const made = await insertTestSwap(pool, await insertTestAccount(pool))
    await pool.query('update ops set fast_output = 985, risk_premium = 5, min_output = 900')
    await pool.query('update swaps set lowered_output = 950, lowered_pay = 950')
    await lockTestSwap(pool, made)

    expect((await statusOfTestSwap(pool, made)).amounts.repriced).toEqual({
      output: '945',
      reason: 'PRICE_MOVED',
    })
    expect(fastPayment((await read(made)).op)).toEqual({ output: 945n, pay: 945n })
  })
})
