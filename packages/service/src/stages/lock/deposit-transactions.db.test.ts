import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../../test/support/database.ts'
import { stub } from '../../../test/support/stub.ts'
import { insertTestOp, statusOfTestSwap, type TestSwap } from '../../../test/support/swaps.ts'
import type { Heads, OriginWays } from '../../chains/chain.ts'
import { createMoves } from '../../engine/advance.ts'
import { insertSwap } from '../../store/submissions.ts'
import { createDepositTransactions, seeDeposits } from './see-deposits.ts'

const CHAIN = 31_337
const DEADLINE = 1_000

const database = useTestDatabase()

/** A swap that waits for 1,000 units, and nothing in the vault for it. */
async function awaited(): Promise<TestSwap & { opId: string }> {
  const { pool } = database
  const accountId = await insertTestAccount(pool)
  const opId = await insertTestOp(pool, accountId)
  await pool.query(
    `update ops set method = 'deposit', deposit_address = 'address', op_deadline = $2 where id = $1`,
    [opId, DEADLINE],
  )
  const swapId = `swp_${randomBytes(16).toString('hex')}`
  await insertSwap(pool, { swapId, opId, signature: '' })
  return { swapId, accountId, opId }
}

/** A chain on which this swap's address has these balances, one per look, and the questions it was asked. */
function chainWith({ opId }: { opId: string }, ...amounts: bigint[]) {
  const asked: (bigint | undefined)[] = []
  const world = { isSilent: false }
  const ways = stub<OriginWays>({
    readDeposits: async () => new Map([[opId, [{ token: 'input', amount: amounts.shift() ?? 0n }]]]),
    async findDepositTx(_op: unknown, { since }: { since: bigint | undefined }) {
      asked.push(since)
      if (world.isSilent) throw new Error('silent')
      return `0x${asked.length}`
    },
  })
  const transactions = createDepositTransactions({ pool: database.pool, ways })
  const look = async (seconds: number, since?: bigint) => {
    const block = { number: BigInt(seconds), height: 0n, hash: '', seconds }
    const heads: Heads = { head: block, settle: block, hard: block }
    const moves = createMoves(database.pool, () => {})
    const deps = { pool: database.pool, chainId: CHAIN, ways, moves, onReceived: transactions.add }
    const faults: unknown[] = []
    await seeDeposits(deps, heads, { since }, faults)
    await transactions.find(faults)
    return faults
  }
  return { world, asked, look }
}

const depositOf = async (swap: TestSwap) => {
  const { substatus, deposit } = await statusOfTestSwap(database.pool, swap)
  return { substatus, received: deposit?.received, txHash: deposit?.txHash }
}

test('the transaction of a deposit is looked for once, in the blocks since the last look', async () => {
  const swap = await awaited()
  const { asked, look } = chainWith(swap, 0n, 0n, 400n, 400n)

  await look(10)
  await look(11, 10n)
  await look(12, 11n)
  await look(13, 12n)

  expect(asked).toEqual([11n])
  expect(await depositOf(swap)).toEqual({ substatus: 'awaitingDeposit', received: '400', txHash: '0x1' })
})

test('a balance that a reorg lowered has the transaction of what is left, or none', async () => {
  const swap = await awaited()
  const { look } = chainWith(swap, 400n, 100n, 0n)

  await look(10)
  await look(11)
  const left = await depositOf(swap)
  await look(12)

  expect(left).toMatchObject({ received: '100', txHash: '0x2' })
  expect(await depositOf(swap)).toMatchObject({ received: '0', txHash: undefined })
})

test('a deposit that anybody sent back after the deadline still counts as received', async () => {
  const swap = await awaited()
  const { look } = chainWith(swap, 400n, 0n)

  await look(DEADLINE - 1)
  await look(DEADLINE)

  expect(await depositOf(swap)).toMatchObject({ received: '400', txHash: '0x1' })
})

test('a complete deposit waits for liquidity, is accepted with it, and never after the deadline', async () => {
  const swap = await awaited()
  const { look } = chainWith(swap, 1_000n, 1_000n, 1_000n)

  await look(10)
  const dry = await depositOf(swap)
  await database.pool.query(
    `insert into inventory (chain_id, token, held, reserved, at_block) values (31338, 'output', 990, 0, 1)
     on conflict (chain_id, token) do update set held = 990, reserved = 0`,
  )
  await look(DEADLINE)
  const late = await depositOf(swap)
  await look(DEADLINE - 1)

  expect([dry.substatus, late.substatus]).toEqual(['awaitingDeposit', 'awaitingDeposit'])
  expect(await depositOf(swap)).toMatchObject({ substatus: 'accepted', received: '1000' })
})

test('a deposit is accepted while nodes do not tell its transaction, which is looked for three times', async () => {
  const swap = await awaited()
  await database.pool.query(
    `insert into inventory (chain_id, token, held, reserved, at_block) values (31338, 'output', 990, 0, 1)
     on conflict (chain_id, token) do update set held = 990, reserved = 0`,
  )
  const { world, asked, look } = chainWith(swap, 1_000n)
  world.isSilent = true

  for (const seconds of [10, 11, 12, 13]) await look(seconds)

  expect(asked).toHaveLength(3)
  expect(await depositOf(swap)).toEqual({ substatus: 'accepted', received: '1000', txHash: undefined })
})

test('the transaction of a deposit is added to a swap that has moved on', async () => {
  const swap = await awaited()
  await database.pool.query('update inventory set held = 990, reserved = 0')
  const { look } = chainWith(swap, 1_000n)

  await look(10)

  expect(await depositOf(swap)).toEqual({ substatus: 'accepted', received: '1000', txHash: '0x1' })
})
