import { beforeEach, expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { insertTestOp, insertTestSwap } from '../../test/support/swaps.ts'
import { refreshBalance } from './ops.ts'
import { endOp, findSubmission, insertSwap, readMostInput, reserveInventory } from './submissions.ts'

const database = useTestDatabase()
beforeEach(() => database.pool.query('truncate swaps, ops, inventory cascade'))

/** Milliseconds by the database's clock, which decides. */
async function databaseTime(): Promise<number> {
  const { rows } = await database.pool.query<{ ms: number }>(
    'select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms',
  )
  return rows[0]?.ms ?? 0
}

test('a signature that expires before its op is not stored after its expiry, by the database’s clock', async () => {
  const { pool } = database
  const opId = await insertTestOp(pool, await insertTestAccount(pool))
  const now = await databaseTime()
  const over = { opId, expiresAt: now - 1 }
  const alive = { opId, expiresAt: now + 600_000 }

  expect(await findSubmission(pool, over)).toMatchObject({ expired: true })
  expect(await insertSwap(pool, { ...over, swapId: 'swp_late', signature: '0x' })).toBe(false)
  expect(await findSubmission(pool, alive)).toMatchObject({ expired: false })
  expect(await insertSwap(pool, { ...alive, swapId: 'swp_timely', signature: '0x' })).toBe(true)
})

test('a wallet that was funded later is judged by its new balance once the op is built again', async () => {
  const { pool } = database
  const opId = await insertTestOp(pool, await insertTestAccount(pool), 'funded')

  await refreshBalance(pool, { opId, balance: 120n, block: 7n })
  await refreshBalance(pool, { opId, balance: 100n, block: 6n })

  expect(await findSubmission(pool, { opId })).toMatchObject({ walletBalance: 120n })
})

test('the wallet balance of a submitted op never changes', async () => {
  const { pool } = database
  const { swapId } = await insertTestSwap(pool, await insertTestAccount(pool))
  const { rows } = await pool.query<{ op_id: string }>('select op_id from swaps where id = $1', [swapId])
  const opId = rows[0]?.op_id ?? ''

  await refreshBalance(pool, { opId, balance: 120n, block: 7n })

  expect(await findSubmission(pool, { opId })).toMatchObject({ walletBalance: 0n })
})

test('a submitted swap is found with its op, and nothing is found of an unknown op', async () => {
  const { pool } = database
  const account = await insertTestAccount(pool)
  const { swapId } = await insertTestSwap(pool, account)
  const other = await insertTestOp(pool, account)
  const { rows } = await pool.query<{ op_id: string }>('select op_id from swaps where id = $1', [swapId])

  const existing = { swapId, state: 'accepted' }
  expect(await findSubmission(pool, { opId: rows[0]?.op_id ?? '' })).toMatchObject({ existing })
  expect(await findSubmission(pool, { opId: other })).not.toHaveProperty('existing')
  expect(await findSubmission(pool, { opId: crypto.randomUUID() })).toBeUndefined()
})

// The balance of the wallet was read at block 5. Its other swap takes 1,000.
test.each([
  ['that waits for its lock', 'version = 1', 1_000n],
  ['of another wallet', `wallet = 'other'`, 0n],
  ['of another token', `input_token = 'other'`, 0n],
  ['of another chain', 'origin_chain = 5', 0n],
  ['that was locked before', `state = 'locked', locked_block = 5`, 0n],
  ['that was locked since', `state = 'locked', locked_block = 6`, 1_000n],
  ['that was locked and refunded since', `state = 'refunded', locked_block = 6`, 0n],
  ['that failed', `state = 'failed'`, 0n],
])('an input %s counts against the balance of the wallet, or not', async (_, change, openInputs) => {
  const { pool } = database
  const account = await insertTestAccount(pool)
  await insertTestSwap(pool, account)
  const opId = await insertTestOp(pool, account)
  await pool.query('update ops set wallet_block = 5')
  await withoutGuards(`update swaps set ${change}`)

  expect(await findSubmission(pool, { opId })).toMatchObject({ openInputs })
})

/** A row of any state, also such as no worker could reach here. */
async function withoutGuards(sql: string): Promise<void> {
  await database.pool.query(
    `alter table swaps disable trigger user; ${sql}; alter table swaps enable trigger user`,
  )
}

test('a deposit does not count against the balance of the wallet', async () => {
  const { pool } = database
  const account = await insertTestAccount(pool)
  await insertTestSwap(pool, account)
  await pool.query(`update ops set method = 'deposit'`)
  const opId = await insertTestOp(pool, account)

  expect(await findSubmission(pool, { opId })).toMatchObject({ openInputs: 0n })
})

test('an op that was ended cannot be submitted, and no other is', async () => {
  const { pool } = database
  const account = await insertTestAccount(pool)
  const [opId, other] = [await insertTestOp(pool, account), await insertTestOp(pool, account)]

  await endOp(pool, opId)

  expect(await insertSwap(pool, { opId, swapId: 'swp_ended', signature: '0x' })).toBe(false)
  expect(await insertSwap(pool, { opId: other, swapId: 'swp_other', signature: '0x' })).toBe(true)
})

const reserved = async () =>
  (await database.pool.query('select chain_id, token, reserved from inventory order by 1, 2')).rows.map(
    (row) => row.reserved,
  )

/** The vaults hold enough of what an op does not pay: it pays 990 of `output` on chain 31338. */
async function insertInventory(held: bigint): Promise<void> {
  await database.pool.query(
    `insert into inventory (chain_id, token, held, reserved, at_block)
     values (31337, 'output', 9000, 0, 1), (31338, 'other', 9000, 0, 1), (31338, 'output', $1, 100, 1)`,
    [held],
  )
}

test.each([
  ['exactly enough', 1_090n, true],
  ['too little', 1_089n, false],
])('an output is reserved if the vault has %s left', async (_, held, isReserved) => {
  const { pool } = database
  await insertInventory(held)
  const opId = await insertTestOp(pool, await insertTestAccount(pool))
  await insertTestOp(pool, await insertTestAccount(pool))

  expect((await reserveInventory(pool, opId)) !== undefined).toBe(isReserved)
  expect(await reserved()).toEqual(['0', '0', isReserved ? '1090' : '100'])
})

test.each([
  ['half of the output is left', 595n, 500n],
  ['more is reserved than held', 50n, 0n],
])('the largest input, if %s, has that price', async (_, held, most) => {
  const { pool } = database
  await insertInventory(held)
  const opId = await insertTestOp(pool, await insertTestAccount(pool))
  await insertTestOp(pool, await insertTestAccount(pool))

  expect(await readMostInput(pool, opId)).toBe(most)
})

test('there is no largest input without a vault', async () => {
  expect(await readMostInput(database.pool, crypto.randomUUID())).toBe(0n)
})
