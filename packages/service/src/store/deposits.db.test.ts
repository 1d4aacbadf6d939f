import { beforeEach, expect, test } from 'vitest'
import { insertTestAttempt } from '../../test/support/attempts.ts'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { insertTestOp, moveTestSwap } from '../../test/support/swaps.ts'
import type { Swap } from '../swap/swap.ts'
import { findPastDeposits, isDepositAddress, setDeposit } from './deposits.ts'
import { insertSwap } from './submissions.ts'
import { findSwaps } from './swaps.ts'

const database = useTestDatabase()
beforeEach(() => database.pool.query('truncate swaps, ops cascade'))

async function awaiting(): Promise<Swap> {
  const { pool } = database
  const opId = await insertTestOp(pool, await insertTestAccount(pool))
  await pool.query(`update ops set method = 'deposit' where id = $1`, [opId])
  await insertSwap(pool, { swapId: `swp_${opId}`, opId, signature: '' })
  return find(`swp_${opId}`)
}

async function find(id: string): Promise<Swap> {
  const [swap] = await findSwaps(database.pool, [id])
  return swap ?? expect.unreachable('There is a swap')
}

test('a deposit at an address is noted for its swap, as long as that waits for it', async () => {
  const { pool } = database
  const [swap, other] = [await awaiting(), await awaiting()]

  await setDeposit(pool, swap, { received: '5' })
  await setDeposit(pool, { ...swap, version: swap.version + 1 }, { received: '6' })

  expect((await find(swap.id)).deposit).toEqual({ received: '5' })
  expect((await find(other.id)).deposit).toBeUndefined()
  const moved = await moveTestSwap(pool, { swapId: swap.id, accountId: '' }, 'depositSeen')
  await setDeposit(pool, moved, { received: '7' })
  expect((await find(swap.id)).deposit).toEqual({ received: '5' })
})

test('the address of an op is known as one, and no other address', async () => {
  const { pool } = database
  const { op } = await awaiting()
  await pool.query(`update ops set deposit_address = '0xDe' where id = $1`, [op.id])

  expect([await isDepositAddress(pool, '0xDe'), await isDepositAddress(pool, '0xAd')]).toEqual([true, false])
})

/** A deposit that came, of an op whose deadline was at this second. */
async function pastDeposit(opDeadline = 50): Promise<Swap> {
  const { pool } = database
  const { id, op } = await awaiting()
  await pool.query('update ops set op_deadline = $2 where id = $1', [op.id, opDeadline])
  return moveTestSwap(pool, { swapId: id, accountId: '' }, 'depositSeen')
}

const START = { opDeadline: 0, id: '' }
const findPast = async (after = START, limit = 10) => {
  const found = await findPastDeposits(database.pool, { chainId: 31_337, seconds: 100, after, limit })
  return found.map(({ id }) => id)
}

test('past deposits come in the order of their deadlines, each once', async () => {
  const [later, first] = [await pastDeposit(60), await pastDeposit(50)]

  expect(await findPast()).toEqual([first.id, later.id])
  expect(await findPast(START, 1)).toEqual([first.id])
  expect(await findPast({ opDeadline: 50, id: first.id })).toEqual([later.id])
})

test('a past deposit is not found while something is on its way back, until that is final', async () => {
  const { pool } = database
  const [returning, other] = [await pastDeposit(50), await pastDeposit(60)]
  const attempt = (id: string, role: 'lock' | 'recover') =>
    insertTestAttempt(pool, { swapId: id, accountId: '' }, role)
  const sent = await attempt(returning.id, 'recover')
  await attempt(other.id, 'lock')

  expect(await findPast()).toEqual([other.id])
  await pool.query('update tx_attempts set final_at = clock_timestamp() where id = $1', [sent])
  expect(await findPast()).toEqual([returning.id, other.id])
})
