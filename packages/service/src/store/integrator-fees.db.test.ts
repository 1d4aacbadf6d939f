import { beforeEach, expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { insertTestSwap } from '../../test/support/swaps.ts'
import { beginPayout, readHeldFees, readOwedTo } from './integrator-fees.ts'
import { endMove, type Move, setHoldings } from './inventory.ts'
import { insertMovements } from './ledger.ts'

const database = useTestDatabase()
let chainId = 0
let accountId = ''

/** An account that earned 100 of a vault with 1,000. */
beforeEach(async () => {
  const { pool } = database
  chainId += 1
  accountId = await insertTestAccount(pool)
  await setHoldings(pool, { chainId, block: 1n }, [{ token: 'USDC', amount: 1_000n }])
  await book({ swapId: (await insertTestSwap(pool, accountId)).swapId, amount: 60n })
  await book({ swapId: (await insertTestSwap(pool, accountId)).swapId, amount: 40n })
})

function book({ swapId, amount }: { swapId: string; amount: bigint }) {
  const movement = {
    block: 1n,
    kind: 'claimed',
    token: 'USDC',
    debit: 'locked',
    credit: 'integrators',
  } as const
  return insertMovements(database.pool, chainId, [{ ...movement, source: swapId, part: 0, swapId, amount }])
}

const payout = (once: string, amount: bigint): Move => ({
  ...{ chainId, sender: '0xt', once, kind: 'withdraw', token: 'USDC', recipient: '0xr', amount, accountId },
})
const begin = (move: Move) => beginPayout(database.pool, move, 1_000n)
const owed = () => readOwedTo(database.pool, { chainId, token: 'USDC', accountId })

test('an account is owed what its claimed swaps added, and the vault holds it', async () => {
  expect(await owed()).toBe(100n)
  expect(await readHeldFees(database.pool, { chainId, token: 'USDC' })).toBe(100n)
})

test('of concurrent payouts only those begin that are owed together', async () => {
  const begun = await Promise.all(['1', '2', '3'].map((once) => begin(payout(once, 40n))))

  expect(begun.filter(Boolean)).toHaveLength(2)
  expect(await owed()).toBe(20n)
  expect(await begin(payout('4', 21n))).toBe(false)
  expect(await begin({ ...payout('5', 1n), accountId: await insertTestAccount(database.pool) })).toBe(false)
})

test('a payout that failed is owed again, and one that landed is not', async () => {
  await begin(payout('1', 70n))
  await begin(payout('2', 30n))
  await endMove(database.pool, payout('1', 70n), 'failed')
  await endMove(database.pool, payout('2', 30n), 'landed')

  expect(await owed()).toBe(70n)
})
