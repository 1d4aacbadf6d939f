import { expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { stub } from '../../test/support/stub.ts'
import { insertOlderTestOp, insertTestOp, insertTestSwap, moveTestSwap } from '../../test/support/swaps.ts'
import { unquotedTerms } from '../swap/quote.ts'
import type { Db } from './db.ts'
import {
  countOpenByLocker,
  findOpByQuote,
  findPositionsPast,
  freePositions,
  insertOp,
  raiseValues,
  readUnsubmitted,
  refreshBalance,
} from './ops.ts'
import { findSubmission, insertSwap } from './submissions.ts'
import { findSwaps } from './swaps.ts'

const database = useTestDatabase()

test('an op is read as it was stored, every field from its own column', async () => {
  const { pool } = database
  const op = {
    ...unquotedTerms,
    id: crypto.randomUUID(),
    hash: 'hash',
    deliveryHash: 'delivery hash',
    originChain: 1,
    destinationChain: 2,
    wallet: 'wallet',
    inputToken: 'input token',
    inputAmount: 2n ** 256n - 1n,
    outputToken: 'output token',
    quotedOutput: 3n,
    minOutput: 4n,
    swappable: 5n,
    integratorFee: 21n,
    venue: 'venue',
    payToken: 'pay token',
    payAmount: 6n,
    priceFloor: 7n,
    recipient: 'recipient',
    createsAccount: true,
    locker: 'locker',
    position: 8n,
    round: 9n,
    opDeadline: 10,
    fillDeadline: 11,
    refundDeadline: 12,
    valueCents: 13n,
    lockFeeBound: 14n,
    deliveryFeeBound: 15n,
    walletBlock: 16n,
    originBlock: 17n,
    destinationBlock: 18n,
    method: 'delegation' as const,
  }
  const accountId = await insertTestAccount(pool)
  const build = {
    quoteId: 'quote',
    accountId,
    terms: { index: 19n },
    walletBalance: 20n,
    externalId: 'order',
  }
  await insertOp(pool, { ...op, ...build }, 60)
  await insertSwap(pool, { swapId: 'swp_read', opId: op.id, signature: '0x' })

  const [swap] = await findSwaps(pool, ['swp_read'])
  const { rows } = await pool.query(
    'select quote_id, account_id, terms, wallet_balance, external_id from ops where id = $1',
    [op.id],
  )

  expect(swap).toMatchObject({ id: 'swp_read', op })
  expect(rows).toEqual([
    {
      quote_id: 'quote',
      account_id: accountId,
      terms: { index: '19' },
      wallet_balance: '20',
      external_id: 'order',
    },
  ])
})

test('only ops that can still be submitted are counted, neither submitted nor expired ones', async () => {
  const { pool } = database
  const account = await insertTestAccount(pool)
  await insertTestSwap(pool, account)
  const over = await insertTestOp(pool, account)
  await pool.query(`update ops set expires_at = now() - interval '1 second' where id = $1`, [over])
  await insertTestOp(pool, account)

  expect((await readUnsubmitted(pool, { accountId: account, isSent: false })).count).toBe(1)
})

test.each(['deposit', 'transfer'])(
  'an op that waits for its %s counts until its deadline',
  async (method) => {
    const { pool } = database
    const account = await insertTestAccount(pool)
    const opId = await insertTestOp(pool, account)
    await pool.query(
      'update ops set method = $2, op_deadline = extract(epoch from now()) + 60 where id = $1',
      [opId, method],
    )
    await insertSwap(pool, { swapId: `swp_${opId}`, opId, signature: '' })
    await insertTestOp(pool, await insertTestAccount(pool))
    await pool.query('update ops set expires_at = now() where id = $1', [opId])
    const countOf = async (isSent = true) =>
      (await readUnsubmitted(pool, { accountId: account, isSent })).count

    const waiting = [await countOf(), await countOf(false)]
    await pool.query('update ops set op_deadline = extract(epoch from now()) - 1 where id = $1', [opId])

    expect([waiting, await countOf()]).toEqual([[1, 0], 0])
  },
)

test('a build reads the live ops of its account, not all of them', async () => {
  const client = await database.pool.connect()
  const plans: string[] = []
  const explaining = stub<Db>({
    query: async (text: string, values: unknown[]) => {
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain ${text}`, values)
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'))
      return { rows: [] }
    },
  })
  try {
    await client.query('set enable_seqscan = off')
    await readUnsubmitted(explaining, { accountId: 'acc_any', isSent: false })
  } finally {
    client.release(true)
  }

  expect(plans.join()).toMatch(/Index Cond: .*account_id.*expires_at/)
})

const CHAIN = 31_337
const columnOf = async (column: string, opId: string) =>
  (await database.pool.query(`select ${column} as value from ops where id = $1`, [opId])).rows[0].value

/** An op that holds a position. Its deadline was at second 99, and it can no longer be submitted. */
async function insertHolding(locker = 'locker'): Promise<string> {
  const { pool } = database
  const opId = await insertTestOp(pool, await insertTestAccount(pool))
  await pool.query(`update ops set op_deadline = 99, expires_at = now() where id = $1`, [opId])
  await pool.query(
    `insert into ring_positions (chain_id, locker, position, last_round, op_id)
     select $1, $2, count(*), 1, $3 from ring_positions`,
    [CHAIN, locker, opId],
  )
  return opId
}

test.each([
  ['at its deadline', 'update ops set op_deadline = 100 where id = $1'],
  ['that can be submitted', `update ops set expires_at = now() + interval '1 hour' where id = $1`],
  ['on another chain', 'update ring_positions set chain_id = 5 where op_id = $1'],
])('a position of an op %s is not past', async (_, change) => {
  const { pool } = database
  await pool.query('truncate ring_positions')
  const [past, other] = [await insertHolding(), await insertHolding()]
  await pool.query(change, [other])

  const found = await findPositionsPast(pool, CHAIN, 100)

  expect(found).toMatchObject([{ opId: past, hash: past, locker: 'locker', inputAmount: 1_000n }])
})

test('a position is freed once its swap has ended, and only its own', async () => {
  const { pool } = database
  await pool.query('truncate ring_positions')
  const [open, over, other] = [await insertHolding(), await insertHolding(), await insertHolding('second')]
  await pool.query(`update ops set expires_at = now() + interval '1 hour'`)
  await insertSwap(pool, { swapId: 'swp_open', opId: open, signature: '0x' })
  await insertSwap(pool, { swapId: 'swp_over', opId: over, signature: '0x' })
  const declined = { failureCode: 'OPERATION_EXPIRED', proof: {} } as const
  await moveTestSwap(pool, { swapId: 'swp_over', accountId: '' }, 'declined', declined)
  await pool.query('update ops set expires_at = now()')
  await pool.query(
    `insert into ring_positions (chain_id, locker, position, last_round) values (5, 'third', 0, 1)`,
  )

  expect((await findPositionsPast(pool, CHAIN, 100)).map(({ opId }) => opId).sort()).toEqual(
    [over, other].sort(),
  )
  await freePositions(pool, [open, over])

  expect(await countOpenByLocker(pool, CHAIN)).toEqual(
    new Map([
      ['locker', 1],
      ['second', 1],
    ]),
  )
})

test('an op is found by its quote, with the fields of its way in', async () => {
  const { pool } = database
  const opId = await insertTestOp(pool, await insertTestAccount(pool))
  expect(await findOpByQuote(pool, 'unknown')).toBeUndefined()
  const without = { method: 'delegation', depositAddress: undefined, permitNonce: undefined }
  expect(await findOpByQuote(pool, opId)).toMatchObject({
    id: opId,
    hash: opId,
    refundDeadline: 0,
    ...without,
  })

  await pool.query(
    `update ops set method = 'permit', deposit_address = 'address', permit_nonce = 7 where id = $1`,
    [opId],
  )

  const found = { method: 'permit', depositAddress: 'address', permitNonce: 7n }
  expect(await findOpByQuote(pool, opId)).toMatchObject(found)
})

test('an op without a stored way in is paid by a transaction of its wallet, or by delegation', async () => {
  const { pool } = database
  const opId = await insertOlderTestOp(pool, await insertTestAccount(pool))

  expect(await findOpByQuote(pool, opId)).toMatchObject({ method: 'transaction' })
  await pool.query(`update ops set delivery_hash = 'of an escrow' where id = $1`, [opId])
  expect(await findOpByQuote(pool, opId)).toMatchObject({ method: 'delegation' })
  expect(await findSubmission(pool, { opId })).toMatchObject({ method: 'delegation' })
})

test('the value of an op is raised and never lowered', async () => {
  const { pool } = database
  const account = await insertTestAccount(pool)
  const [raised, kept, other] = [
    await insertTestOp(pool, account),
    await insertTestOp(pool, account),
    await insertTestOp(pool, account),
  ]
  await pool.query('update ops set value_cents = 50')

  await raiseValues(pool, [])
  await raiseValues(pool, [
    { opId: raised, cents: 51n },
    { opId: kept, cents: 49n },
  ])

  const values = await Promise.all([raised, kept, other].map((id) => columnOf('value_cents', id)))
  expect(values).toEqual(['51', '50', '50'])
})

test('the balance of a wallet is that of the newest block, for this op', async () => {
  const { pool } = database
  const account = await insertTestAccount(pool)
  const [opId, other] = [await insertTestOp(pool, account), await insertTestOp(pool, account)]

  await refreshBalance(pool, { opId, balance: 7n, block: 3n })
  await refreshBalance(pool, { opId, balance: 9n, block: 3n })

  expect([await columnOf('wallet_balance', opId), await columnOf('wallet_balance', other)]).toEqual([
    '7',
    '0',
  ])
})
